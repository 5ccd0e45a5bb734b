"""What is measured: accuracy, time, memory."""
