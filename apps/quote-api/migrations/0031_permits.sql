-- How a request is executed where its user does not send a deposit: what was signed for, or what the user
-- sends alone. Absent otherwise. @see src/orders/execution.ts
alter table orders add column execution json;
