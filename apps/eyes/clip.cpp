// Draws a video of faces that move: what the tests and the figures look for eyes in. No photograph
// of anybody has to be at hand, and every machine has the same one.
//
//     eyes_clip FRAMES WIDTH HEIGHT OUT.avi
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

namespace {

using Color = cv::Scalar;

/// Light skin, dark hair, brows and eyes, a nose that throws a shadow: what the cascades look at.
void draw_face(cv::Mat& image, cv::Point2d middle, double size) {
  const auto at = [&](double x, double y) {
    return cv::Point(static_cast<int>(middle.x + x * size), static_cast<int>(middle.y + y * size));
  };
  const auto axes = [&](double x, double y) {
    return cv::Size(static_cast<int>(x * size), static_cast<int>(y * size));
  };
  const auto ellipse = [&](double x, double y, double wide, double high, const Color& color) {
    cv::ellipse(image, at(x, y), axes(wide, high), 0, 0, 360, color, cv::FILLED, cv::LINE_AA);
  };
  const Color skin(150, 180, 215), shade(115, 140, 175), hair(25, 30, 45), white(225, 225, 230);
  ellipse(0, -0.12, 0.56, 0.66, hair);
  ellipse(0, 0.62, 0.22, 0.3, shade);
  ellipse(0, 0.05, 0.47, 0.62, skin);
  ellipse(0, -0.42, 0.36, 0.12, skin);
  for (const double side : {-1.0, 1.0}) {
    ellipse(side * 0.2, -0.06, 0.14, 0.09, shade);
    ellipse(side * 0.2, -0.17, 0.13, 0.025, hair);
    ellipse(side * 0.2, -0.05, 0.095, 0.045, white);
    ellipse(side * 0.2, -0.05, 0.05, 0.05, hair);
    ellipse(side * 0.3, 0.18, 0.09, 0.07, Color(165, 195, 228));
  }
  ellipse(0, 0.02, 0.035, 0.16, Color(175, 205, 235));
  ellipse(0, 0.2, 0.09, 0.035, shade);
  ellipse(0, 0.37, 0.17, 0.045, Color(80, 75, 150));
  ellipse(0, 0.365, 0.15, 0.012, hair);
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc == 5 ? std::atoi(argv[1]) : 0;
  const int width = argc == 5 ? std::atoi(argv[2]) : 0, height = argc == 5 ? std::atoi(argv[3]) : 0;
  if (frames < 1 || width < 160 || height < 120) {
    std::fprintf(stderr, "usage: eyes_clip FRAMES WIDTH HEIGHT OUT.avi, of at least 160 by 120\n");
    return 2;
  }
  cv::VideoWriter out(argv[4], cv::CAP_OPENCV_MJPEG, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'),
                      25, {width, height});
  if (!out.isOpened()) {
    std::fprintf(stderr, "eyes_clip: '%s' cannot be written\n", argv[4]);
    return 1;
  }
  for (int i = 0; i < frames; ++i) {
    cv::Mat image(height, width, CV_8UC3);
    for (int y = 0; y < height; ++y) image.row(y).setTo(Color(120 - 40.0 * y / height, 110, 100));
    const double turn = 0.13 * i, size = 0.42 * height;
    draw_face(image,
              {width * (0.3 + 0.06 * std::sin(turn)), height * (0.5 + 0.08 * std::cos(turn))},
              size);
    if (i % 3 != 0) {
      draw_face(image, {width * (0.75 + 0.05 * std::cos(turn)), height * 0.45}, 0.6 * size);
    }
    cv::GaussianBlur(image, image, {3, 3}, 0);
    out.write(image);
  }
  out.release();
  return 0;
}
