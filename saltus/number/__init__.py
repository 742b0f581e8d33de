from saltus.number import trigonometry as trigonometry  # what sincos and atan2 mean in compiled code
