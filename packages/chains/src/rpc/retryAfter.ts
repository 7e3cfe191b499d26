const longestMs = 30_000

/**
 * Milliseconds a `retry-after` header asks for, as seconds or as a date, never above 30 s: an endpoint
 * must not be able to switch itself off for long. `undefined` when absent or unreadable.
 * @source RFC 9110 10.2.3
 */
export function retryAfterMs(
  header: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  const text = typeof header === 'string' ? header.trim() : header?.[0]?.trim()
  if (text === undefined || text === '') return undefined
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), longestMs)
}
