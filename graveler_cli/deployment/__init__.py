"""Checks of a deployment in an AWS account, with the credentials of its operator.

The stacks in CloudFormation name the resources, so nothing here knows their names.
"""
