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
    /* Luma, then at half the size: blue and red chroma, interleaved. */
    CFACE_NV12 = 4,
    /* Luma, then at half the size: blue chroma, red chroma. */
    CFACE_I420 = 5,
    /* Red, green and blue of each pixel, or the reverse. X is a padding byte. */
    CFACE_RGB = 6,
    CFACE_BGR = 7,
    CFACE_RGBX = 8,
    CFACE_BGRX = 9
};

/* Results of calls. Every result but CFACE_OK leaves the output unchanged. */
enum cface_result {
    CFACE_OK = 0,
    /* Built without dlib: the package's trait Face is off. */
    CFACE_NOT_BUILT = 1,
    /* The frame does not match its format, or its size is out of range. */
    CFACE_BAD_FRAME = 2,
    /* A model file has unexpected contents. */
    CFACE_BAD_MODEL = 3,
    /* Out of memory, or another failure. */
    CFACE_FAILED = 4,
    /* The library OpenBLAS is missing. */
    CFACE_NO_BLAS = 5
};

enum { CFACE_NUMBERS = 128, CFACE_LANDMARKS = 5, CFACE_LONGEST_SIDE = 1920 };

/* A second face of this size, compared with the largest, leaves open which one is meant. */
#define CFACE_RIVAL 0.66f

typedef struct cface_engine cface_engine;

/* The square of a face, in pixels. */
typedef struct {
    float left;
    float top;
    float side;
} cface_place;

/* A picture as a camera delivers it. Width and height of a JPEG may be 0: its header has them. */
typedef struct {
    int32_t format;
    int32_t width;
    int32_t height;
    /* Bytes from one line of luma to the next; not for JPEG. */
    int32_t stride;
    const uint8_t *bytes;
    size_t count;
} cface_frame;

/* Findings about a picture. Lengths are pixels of a picture of width x height. */
typedef struct {
    int32_t width;
    int32_t height;
    /* Mean brightness, 0 ... 1. */
    float brightness;
    /* The share of pixels in the darkest eighth of the scale, 0 ... 1. */
    float darkness;
    /* The share of pixels in the brightest sixteenth of the scale, 0 ... 1. */
    float glare;
    /* The number of faces. The fields below describe the largest face, and are 0 without faces. */
    int32_t faces;
    /* The side of the second largest face, divided by that of the largest. */
    float rival;
    /* True if the whole picture was searched, false if only the surroundings of a former place. */
    int32_t is_whole;
    cface_place place;
    /* Brightness inside the face, 0 ... 1. */
    float face_brightness;
    /* x, y of each point: outer and inner corner of the eye on the right of the picture, outer and
       inner corner of the other eye, the nose. */
    float landmarks[CFACE_LANDMARKS * 2];
    /* Variation of the eyes from side to side, divided by that from top to bottom: the mean of both
       eyes. An iris between two whites scores high, a closed lid low. 0 means not measured. */
    float eyes;
    /* True if numbers is filled: the largest face has no rival. */
    int32_t has_numbers;
    float numbers[CFACE_NUMBERS];
} cface_sight;

/*
 * Chooses one thread, and kernels for this processor, when OpenBLAS is loaded later.
 *
 * Sets environment variables: call it before the process has other threads.
 */
void cface_choose_kernels(void);

/*
 * Makes an engine from the bytes of the landmark model and the open file of the network.
 *
 * network: duplicated by this call; every look reads the weights from it.
 * detector: bytes of an earlier cface_detector, which save 0.7 s. If they are empty or damaged, the
 *   engine builds the detector anew.
 */
int cface_open(const uint8_t *landmarks, size_t landmarks_count, int network,
               const uint8_t *detector, size_t detector_count, cface_engine **engine);
void cface_close(cface_engine *engine);

/* Reports whether the engine used the detector given to cface_open. */
int cface_used_detector(const cface_engine *engine);

/* Serializes the detector. Returns its size, and fills bytes if room is large enough. */
size_t cface_detector(const cface_engine *engine, uint8_t *bytes, size_t room);

/*
 * Analyses a frame. Frames with darkness above the limit are not searched for faces.
 *
 * near: the place of the face in the frame before; NULL if unknown. Its surroundings are searched
 *   first, and the whole picture only without a face there.
 */
int cface_look(cface_engine *engine, const cface_frame *frame, float darkness_limit,
               const cface_place *near, cface_sight *sight);

/* Returns the Euclidean distance between the numbers of two faces. */
float cface_distance(const float *one, const float *other);

/* Returns the distance from a face's numbers to the nearest face of the built-in cohort. */
float cface_cohort_distance(const float *numbers);

/* Report whether the unit was compiled with dlib, and with optimisation. */
int cface_is_built(void);
int cface_is_optimised(void);

#ifdef __cplusplus
}
#endif

#endif
