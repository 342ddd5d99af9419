#ifndef LOCALAUTH_CFACE_H
#define LOCALAUTH_CFACE_H

/*
 * Faces in pictures: dlib's HOG detector, 5 landmarks and the ResNet with 128 numbers.
 *
 * No function throws, prints, or touches a file. One engine is used by one thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the bytes of a frame are laid out. */
enum cface_format {
    CFACE_MJPG = 1,
    CFACE_YUYV = 2,
    CFACE_GREY = 3,
    /* Luma, then at half the size: blue and red chroma in turns. */
    CFACE_NV12 = 4,
    /* Luma, then at half the size: blue chroma, red chroma. */
    CFACE_I420 = 5,
    /* Red, green and blue of each pixel, or the other way round; X: and a byte that says nothing. */
    CFACE_RGB = 6,
    CFACE_BGR = 7,
    CFACE_RGBX = 8,
    CFACE_BGRX = 9
};

/* What a call came to; everything but CFACE_OK leaves the output as it was. */
enum cface_result {
    CFACE_OK = 0,
    /* Built without dlib: the package's trait Face is off. */
    CFACE_NOT_BUILT = 1,
    /* The frame is no picture of the kind it says, or has no size that is looked at. */
    CFACE_BAD_FRAME = 2,
    /* A model is not what it should be. */
    CFACE_BAD_MODEL = 3,
    /* Memory, or anything else. */
    CFACE_FAILED = 4
};

enum { CFACE_NUMBERS = 128, CFACE_LANDMARKS = 5, CFACE_LONGEST_SIDE = 1920 };

typedef struct cface_engine cface_engine;

/* A picture as a camera gives it. A JPEG says its own size: width and height may be 0. */
typedef struct {
    int32_t format;
    int32_t width;
    int32_t height;
    /* Bytes from one line of luma to the next; not for JPEG. */
    int32_t stride;
    const uint8_t *bytes;
    size_t count;
} cface_frame;

/* What was seen in a picture; lengths are pixels of a picture of width x height. */
typedef struct {
    int32_t width;
    int32_t height;
    /* Mean brightness, 0 ... 1. */
    float brightness;
    /* The share of pixels in the darkest eighth of the scale, 0 ... 1. */
    float darkness;
    /* The share of pixels in the brightest sixteenth of the scale, 0 ... 1. */
    float glare;
    /* How many faces there are; what follows is about the largest one, or 0. */
    int32_t faces;
    float left;
    float top;
    float side;
    /* Brightness inside the face, 0 ... 1. */
    float face_brightness;
    /* x, y of: the outer and inner corner of the eye on the right of the picture, the same of the
       other eye (outer first), the nose. */
    float landmarks[CFACE_LANDMARKS * 2];
    /* How much more the eyes change from side to side than up and down, both together: an iris
       between two whites does, a lid doesn't. 0: not measured. */
    float eyes;
    /* Whether numbers holds the face: exactly one was seen, and it was asked for. */
    int32_t has_numbers;
    float numbers[CFACE_NUMBERS];
} cface_sight;

/*
 * Makes an engine from the bytes of the landmarks' model and the open file of the network's.
 *
 * network: is duplicated; the weights are read from it at every look.
 * detector: what cface_detector gave earlier, to start 0.7 s sooner; empty or damaged: made anew.
 * for_any: nothing is used that only some processors have; it sees the same, and takes longer.
 */
int cface_open(const uint8_t *landmarks, size_t landmarks_count, int network,
               const uint8_t *detector, size_t detector_count, int for_any,
               cface_engine **engine);
void cface_close(cface_engine *engine);

/* Whether the detector given to cface_open was used. */
int cface_used_detector(const cface_engine *engine);

/* The detector in serialised form: its size, and the bytes if there is room for them. */
size_t cface_detector(const cface_engine *engine, uint8_t *bytes, size_t room);

/* Looks at a frame. Dark frames (darkness above the limit) are not searched for faces. */
int cface_look(cface_engine *engine, const cface_frame *frame, float darkness_limit,
               int wants_numbers, cface_sight *sight);

/* How different two faces are: the Euclidean distance of their numbers. */
float cface_distance(const float *one, const float *other);

/* Whether the unit was compiled with dlib, and whether with optimisation. */
int cface_is_built(void);
int cface_is_optimised(void);

#ifdef __cplusplus
}
#endif

#endif
