@python "%~dp0__NAME__.py" %*
