# The deployment @NAME@ as a module of Terraform: uploads, and a stack of CloudFormation for each template.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "bucket" {
  description = "A bucket in the region of the deployment, encrypted with S3's own keys"
  type        = string
}

variable "prefix" {
  description = "How the keys of uploads begin: empty, or with / at the end"
  type        = string
  default     = "graveler/"
}

locals {
  # Names of keys follow from the content, so that a change is seen.
  templates = {
    for name in ["@NAME@-storage", "@NAME@"] : name => {
      file = "${path.module}/${name}.template.json"
      key  = "${var.prefix}templates/${name}-${filesha256("${path.module}/${name}.template.json")}.json"
    }
  }
}

data "aws_s3_bucket" "uploads" {
  bucket = var.bucket
}

resource "aws_s3_object" "assets" {
  for_each = fileset("${path.module}/assets", "*")
  bucket   = var.bucket
  key      = "${var.prefix}${each.value}"
  source   = "${path.module}/assets/${each.value}"

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_s3_object" "templates" {
  for_each = local.templates
  bucket   = var.bucket
  key      = each.value.key
  source   = each.value.file

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudformation_stack" "storage" {
  name         = "@NAME@-storage"
  template_url = "https://${data.aws_s3_bucket.uploads.bucket_regional_domain_name}/${aws_s3_object.templates["@NAME@-storage"].key}"
}

resource "aws_cloudformation_stack" "service" {
  name         = "@NAME@"
  template_url = "https://${data.aws_s3_bucket.uploads.bucket_regional_domain_name}/${aws_s3_object.templates["@NAME@"].key}"
  capabilities = ["CAPABILITY_NAMED_IAM"]
  parameters = {
    AssetsBucket = var.bucket
    AssetsPrefix = var.prefix
  }
  depends_on = [aws_cloudformation_stack.storage, aws_s3_object.assets]
}

output "service" {
  value = aws_cloudformation_stack.service.outputs
}

output "storage" {
  value = aws_cloudformation_stack.storage.outputs
}
