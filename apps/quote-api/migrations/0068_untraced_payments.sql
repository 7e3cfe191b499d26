-- No trace is read for a payment any more: what waited for one is judged again, by what its fill contract recorded.
update settlement s set parked_reason = null, attempts = 0, contradictions = 0, next_at = clock_timestamp(),
    updated_at = clock_timestamp(),
    stage = case when parked_reason = 'REFUND_NEEDS_TRACE' then 'refunding'
      when o.status = 'success' then 'filled' else 'filling' end
  from orders o
  where o.request_id = s.request_id and s.stage = 'parked' and s.parked_reason in ('TRACE_NEEDED', 'REFUND_NEEDS_TRACE');
update work_item set reason = null, not_before = clock_timestamp(), updated_at = clock_timestamp()
  where state = 'reported' and reason = 'trace needed';
