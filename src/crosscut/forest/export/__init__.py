"""Trees in other forms: text, JSON, SQL, Python, ONNX and scikit-learn."""
