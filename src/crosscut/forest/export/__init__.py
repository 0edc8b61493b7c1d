"""Export trees as text, JSON, SQL, Python, ONNX and scikit-learn trees."""
