"""The scripted model: speaks the model APIs and plays a case's script. It shows that the instrument works, nothing else."""
