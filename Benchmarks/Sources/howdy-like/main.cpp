// Makes the dlib calls of a Howdy attempt in C++: a yardstick, not Howdy.
//
// Howdy, a Python program, starts an interpreter, imports dlib and OpenCV, equalizes the light (CLAHE), and opens the
// camera. This program leaves all of that out. For each attempt, three models are loaded, and the frame is shrunk to
// a height of 320. The HOG detector with one pyramid step up, 5 landmarks and the ResNet follow. A match is a frame
// below the distance 0.35.
//
//   howdy-like MODELS ENROLLED.jpeg CLIP.mjpeg
//
// Prints milliseconds to load, median and 95th percentile of a frame, and milliseconds to the match.

#ifndef LOCALAUTH_FACE

#include <cstdio>

int main() {
    std::fprintf(stderr, "howdy-like: built without dlib (package trait Face)\n");
    return 69;
}

#else

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <dlib/dnn.h>
#include <dlib/image_io.h>
#include <dlib/image_processing.h>
#include <dlib/image_processing/frontal_face_detector.h>

extern "C" void openblas_set_num_threads(int count);

namespace {

template <template <int, template <typename> class, int, typename> class block, int N,
          template <typename> class BN, typename SUBNET>
using residual = dlib::add_prev1<block<N, BN, 1, dlib::tag1<SUBNET>>>;
template <template <int, template <typename> class, int, typename> class block, int N,
          template <typename> class BN, typename SUBNET>
using residual_down = dlib::add_prev2<
    dlib::avg_pool<2, 2, 2, 2, dlib::skip1<dlib::tag2<block<N, BN, 2, dlib::tag1<SUBNET>>>>>>;
template <int N, template <typename> class BN, int stride, typename SUBNET>
using block =
    BN<dlib::con<N, 3, 3, 1, 1, dlib::relu<BN<dlib::con<N, 3, 3, stride, stride, SUBNET>>>>>;
template <int N, typename SUBNET>
using ares = dlib::relu<residual<block, N, dlib::affine, SUBNET>>;
template <int N, typename SUBNET>
using ares_down = dlib::relu<residual_down<block, N, dlib::affine, SUBNET>>;
template <typename SUBNET> using level0 = ares_down<256, SUBNET>;
template <typename SUBNET> using level1 = ares<256, ares<256, ares_down<256, SUBNET>>>;
template <typename SUBNET> using level2 = ares<128, ares<128, ares_down<128, SUBNET>>>;
template <typename SUBNET> using level3 = ares<64, ares<64, ares<64, ares_down<64, SUBNET>>>>;
template <typename SUBNET> using level4 = ares<32, ares<32, ares<32, SUBNET>>>;
using network_type = dlib::loss_metric<dlib::fc_no_bias<
    128, dlib::avg_pool_everything<level0<level1<level2<level3<level4<dlib::max_pool<
             3, 3, 2, 2,
             dlib::relu<dlib::affine<dlib::con<
                 32, 7, 7, 2, 2, dlib::input_rgb_image_sized<150>>>>>>>>>>>>>;

using picture = dlib::matrix<dlib::rgb_pixel>;
using numbers = dlib::matrix<float, 0, 1>;

double now() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// The clips of this project have no embedded pictures.
std::vector<std::string> frames(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(file)), {});
    std::vector<std::string> found;
    const std::string begin = "\xFF\xD8\xFF", end = "\xFF\xD9";
    for (size_t at = all.find(begin); at != std::string::npos;) {
        const size_t last = all.find(end, at);
        if (last == std::string::npos) break;
        found.push_back(all.substr(at, last + 2 - at));
        at = all.find(begin, last);
    }
    return found;
}

picture decode(const std::string &jpeg) {
    picture image;
    dlib::load_jpeg(image, reinterpret_cast<const unsigned char *>(jpeg.data()), jpeg.size());
    return image;
}

struct attempt {
    dlib::frontal_face_detector detector = dlib::get_frontal_face_detector();
    dlib::shape_predictor landmarks;
    network_type network;

    explicit attempt(const std::string &models) {
        dlib::deserialize(models + "/shape_predictor_5_face_landmarks.dat") >> landmarks;
        dlib::deserialize(models + "/dlib_face_recognition_resnet_model_v1.dat") >> network;
    }

    std::vector<numbers> look(const picture &image) {
        picture small(320, long(image.nc() * 320 / image.nr()));
        dlib::resize_image(image, small);
        dlib::pyramid_down<2> pyramid;
        picture up;
        dlib::pyramid_up(small, up, pyramid);
        std::vector<numbers> found;
        for (const auto &box : detector(up)) {
            const auto shape = landmarks(small, pyramid.rect_down(box));
            picture chip;
            extract_image_chip(small, get_face_chip_details(shape, 150, 0.25), chip);
            found.push_back(network(chip));
        }
        return found;
    }
};

} // namespace

int main(int count, char **words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: howdy-like MODELS ENROLLED.jpeg CLIP.mjpeg\n");
        return 64;
    }
    openblas_set_num_threads(1);
    const auto clip = frames(words[3]);
    const auto enrolled_frames = frames(words[2]);
    if (clip.empty() || enrolled_frames.empty()) return 1;

    const double start = now();
    attempt howdy(words[1]);
    const double loaded = now();
    const auto enrolled = howdy.look(decode(enrolled_frames[0]));
    if (enrolled.empty()) return 1;

    std::vector<double> times;
    double match = -1;
    const double looking = now();
    for (const auto &frame : clip) {
        const double before = now();
        const auto found = howdy.look(decode(frame));
        if (!found.empty()) times.push_back(now() - before);
        for (const auto &face : found)
            if (match < 0 && length(face - enrolled[0]) < 0.35) match = now() - looking;
    }
    if (times.empty()) return 1;
    std::sort(times.begin(), times.end());
    std::printf("%.0f %.1f %.1f %.0f\n", loaded - start, times[times.size() / 2],
                times[times.size() * 95 / 100], match < 0 ? -1 : loaded - start + match);
    return 0;
}

#endif
