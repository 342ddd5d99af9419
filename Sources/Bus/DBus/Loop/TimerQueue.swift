/// Timers by deadline: a binary heap that drops canceled timers when they are the majority.
@BusActor
struct TimerQueue {
    private struct Entry {
        let deadline: UInt64
        let order: UInt64
        let source: EventSource

        func isBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? order < other.order : deadline < other.deadline
        }
    }

    private var heap: [Entry] = []
    private var canceled = 0
    private var order: UInt64 = 0

    /// The earliest deadline of a timer that is not canceled.
    var nearest: UInt64? {
        mutating get {
            while let first = heap.first, first.source.body == nil {
                removeFirst()
                canceled = max(0, canceled - 1)
            }
            return heap.first?.deadline
        }
    }

    mutating func insert(_ source: EventSource, at deadline: UInt64) {
        order += 1
        heap.append(Entry(deadline: deadline, order: order, source: source))
        siftUp(heap.count - 1)
    }

    mutating func noteCanceled() {
        canceled += 1
        guard canceled > 64, canceled > heap.count / 2 else { return }
        canceled = 0
        let kept = heap.filter { $0.source.body != nil }
        heap.removeAll(keepingCapacity: true)
        for entry in kept {
            heap.append(entry)
            siftUp(heap.count - 1)
        }
    }

    /// Removes and returns timers that are due, earliest first.
    mutating func takeDue(_ now: UInt64) -> [EventSource] {
        var due: [EventSource] = []
        while let deadline = nearest, deadline <= now, let entry = heap.first {
            due.append(entry.source)
            removeFirst()
        }
        return due
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[smallest]) {
                    smallest = child
                }
            }
            guard smallest != parent else { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }
}
