-- Text under the pepper, so that another pepper of the same id is seen before every key is refused. Null in rows of before,
-- until their key is used.
alter table api_key_secret add column pepper_check bytea;
