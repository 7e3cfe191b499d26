-- A solver may say until when its transaction can have an effect, so that another one is asked once that is over.
alter table work_item
  -- Unix seconds, of all that was reported since the item was offered last; null where a transaction has no such end.
  add column valid_until bigint;
