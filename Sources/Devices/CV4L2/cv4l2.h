#ifndef LOCALAUTH_CV4L2_H
#define LOCALAUTH_CV4L2_H

#include <linux/videodev2.h>
#include <sys/ioctl.h>

/* Wraps definitions that Swift cannot import: ioctl is variadic, and requests and formats are macros
   with sizeof and shifts. */

static inline int cv4l2_ioctl(int descriptor, unsigned long request, void *argument) {
    return ioctl(descriptor, request, argument);
}

static const unsigned long cv4l2_querycap = VIDIOC_QUERYCAP;
static const unsigned long cv4l2_enum_fmt = VIDIOC_ENUM_FMT;
static const unsigned long cv4l2_s_fmt = VIDIOC_S_FMT;
static const unsigned long cv4l2_reqbufs = VIDIOC_REQBUFS;
static const unsigned long cv4l2_querybuf = VIDIOC_QUERYBUF;
static const unsigned long cv4l2_qbuf = VIDIOC_QBUF;
static const unsigned long cv4l2_dqbuf = VIDIOC_DQBUF;
static const unsigned long cv4l2_streamon = VIDIOC_STREAMON;
static const unsigned long cv4l2_streamoff = VIDIOC_STREAMOFF;

static const unsigned int cv4l2_mjpg = V4L2_PIX_FMT_MJPEG;
static const unsigned int cv4l2_jpeg = V4L2_PIX_FMT_JPEG;
static const unsigned int cv4l2_yuyv = V4L2_PIX_FMT_YUYV;
static const unsigned int cv4l2_nv12 = V4L2_PIX_FMT_NV12;
static const unsigned int cv4l2_i420 = V4L2_PIX_FMT_YUV420;
static const unsigned int cv4l2_grey = V4L2_PIX_FMT_GREY;

static const unsigned int cv4l2_capture = V4L2_BUF_TYPE_VIDEO_CAPTURE;
static const unsigned int cv4l2_memory_mapped = V4L2_MEMORY_MMAP;
static const unsigned int cv4l2_field_none = V4L2_FIELD_NONE;
static const unsigned int cv4l2_cap_capture = V4L2_CAP_VIDEO_CAPTURE;
/* Capabilities of a codec's node. A codec also takes pictures in, so it is no camera. */
static const unsigned int cv4l2_cap_codec =
    V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_VIDEO_OUTPUT_MPLANE | V4L2_CAP_VIDEO_M2M |
    V4L2_CAP_VIDEO_M2M_MPLANE;
static const unsigned int cv4l2_cap_planes = V4L2_CAP_VIDEO_CAPTURE_MPLANE;
static const unsigned int cv4l2_cap_streaming = V4L2_CAP_STREAMING;
static const unsigned int cv4l2_cap_device = V4L2_CAP_DEVICE_CAPS;
static const unsigned int cv4l2_flag_error = V4L2_BUF_FLAG_ERROR;

#endif
