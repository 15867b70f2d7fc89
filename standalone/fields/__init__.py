"""Field ownership (metadata.managedFields) and server-side apply, as Kubernetes does them.

Owns sets of fields in their FieldsV1 form, the comparison and merge of objects by their schema, conflicts between
managers and the removal of fields no longer applied. Pure: objects in, objects out; never stores or validates objects.
"""
