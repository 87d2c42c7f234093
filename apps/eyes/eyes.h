#pragma once

#include <algorithm>
#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <opencv2/videoio.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// What all programs that look for eyes have in common: how a video is read, and the work of a
/// frame.
namespace apps {

/// A frame as it travels: three bytes a pixel.
struct Frame {
  int rows = 0, columns = 0;
  std::vector<char> pixels;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(rows, columns, pixels);
  }
};

/// The frames of a video from one of them on. What cannot be read throws std::runtime_error.
class Video {
 public:
  explicit Video(const std::string& path, std::uint64_t first = 0) : path_(path), capture_(path) {
    if (!capture_.isOpened())
      throw std::runtime_error("'" + path + "' is no video that can be read");
    // To seek would end at a frame near by in many formats.
    for (std::uint64_t i = 0; i < first; ++i) {
      if (!capture_.grab()) throw std::runtime_error("'" + path + "' has become shorter");
    }
  }

  /// What each frame has; another size is an error.
  std::size_t frame_bytes() const {
    return 3 * static_cast<std::size_t>(capture_.get(cv::CAP_PROP_FRAME_WIDTH)) *
           static_cast<std::size_t>(capture_.get(cv::CAP_PROP_FRAME_HEIGHT));
  }

  std::optional<Frame> next() {
    cv::Mat image;
    if (!capture_.read(image)) return std::nullopt;
    if (image.type() != CV_8UC3 || image.total() * 3 != frame_bytes() || !image.isContinuous()) {
      throw std::runtime_error("'" + path_ + "': want three bytes a pixel, and frames of one size");
    }
    const char* pixels = reinterpret_cast<const char*>(image.data);
    return Frame{image.rows, image.cols, {pixels, pixels + image.total() * image.elemSize()}};
  }

 private:
  std::string path_;
  cv::VideoCapture capture_;
};

/// Finds faces, and eyes within them, by OpenCV's Haar cascades. For one thread; a copy is a
/// detector of its own, which reads the cascades when it is first used.
class EyeDetector {
 public:
  EyeDetector() = default;
  EyeDetector(const EyeDetector&) {}
  EyeDetector& operator=(const EyeDetector&) = delete;

  /// A line for a frame: "face X Y WIDTH HEIGHT eye X Y WIDTH HEIGHT …", from left to right.
  std::string find(const Frame& frame) {
    load(faces_, "haarcascade_frontalface_default.xml");
    load(eyes_, "haarcascade_eye.xml");
    const cv::Mat image(frame.rows, frame.columns, CV_8UC3, const_cast<char*>(frame.pixels.data()));
    cv::Mat gray;
    cv::cvtColor(image, gray, cv::COLOR_BGR2GRAY);
    cv::equalizeHist(gray, gray);
    std::string line;
    for (const cv::Rect& face : all_in(faces_, gray, 5)) {
      add("face", face, line);
      for (cv::Rect eye : all_in(eyes_, gray(face), 3)) {
        add("eye", eye + face.tl(), line);
      }
    }
    return line;
  }

 private:
  static void load(cv::CascadeClassifier& cascade, const std::string& name) {
    if (!cascade.empty()) return;
    const std::string path = std::string(HAARCASCADES) + "/" + name;
    if (!cascade.load(path)) throw std::runtime_error("'" + path + "' is no cascade of OpenCV");
  }
  // OpenCV's threads find them in any order.
  static std::vector<cv::Rect> all_in(cv::CascadeClassifier& cascade, const cv::Mat& image,
                                      int neighbours) {
    std::vector<cv::Rect> found;
    cascade.detectMultiScale(image, found, 1.1, neighbours);
    std::sort(found.begin(), found.end(), [](const cv::Rect& a, const cv::Rect& b) {
      return std::tie(a.x, a.y, a.width, a.height) < std::tie(b.x, b.y, b.width, b.height);
    });
    return found;
  }
  static void add(const char* what, const cv::Rect& at, std::string& line) {
    if (!line.empty()) line += ' ';
    line += what;
    for (const int number : {at.x, at.y, at.width, at.height}) line += ' ' + std::to_string(number);
  }

  cv::CascadeClassifier faces_, eyes_;
};

}  // namespace apps
