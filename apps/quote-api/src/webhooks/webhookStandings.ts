import type { SqlDatabase } from '@causeway/core'

/** The webhook of an API key, and whether its messages arrive; for the consoles. */
export type WebhookStanding = {
  readonly apiKeyId: string
  readonly label: string
  /** Host without the path, which may hold a token of the receiver. */
  readonly host: string
  /** Messages that are not delivered yet; `countedMax + 1` stands for any larger number. */
  readonly waiting: number
  /** Messages given up after the last retry, as long as they are kept; counted in the same way. */
  readonly failed: number
  /** Last error of messages that wait, else of those given up. */
  readonly problem: string | undefined
  /** Creation of the oldest waiting message of which an attempt failed. */
  readonly failingSince: Date | undefined
}

/** Bound of counts, so that a million rows do not slow the answer down. */
const countedMax = 1_000

const counted = (state: string) =>
  `(select count(*)::int from (select from webhook_delivery d
     where d.api_key_id = w.api_key_id and d.state = '${state}' limit ${countedMax + 1}) each)`
const lastProblem = (state: string) =>
  `(select d.problem from webhook_delivery d where d.api_key_id = w.api_key_id and d.state = '${state}'
     and d.problem is not null order by d.seq desc limit 1)`

/**
 * Webhooks of keys that are not revoked, in order of their ids.
 * @param wallet lower case; only webhooks of keys that it sponsors; absent: all
 */
export async function readWebhookStandings(
  database: Pick<SqlDatabase, 'query'>,
  wallet?: string,
): Promise<readonly WebhookStanding[]> {
  const rows = await database.query<StandingRow>(
    `select w.api_key_id, k.label, w.url, ${counted('waiting')} as waiting, ${counted('failed')} as failed,
       coalesce(${lastProblem('waiting')}, ${lastProblem('failed')}) as problem,
       (select min(d.created_at) from webhook_delivery d where d.api_key_id = w.api_key_id and d.state = 'waiting'
         and d.problem is not null) as failing_since
     from webhook_endpoint w join api_key k on k.id = w.api_key_id
     where k.revoked_at is null and ($1::text is null or k.wallet = $1) order by w.api_key_id`,
    [wallet ?? null],
  )
  return rows.map(({ api_key_id: apiKeyId, url, problem, failing_since: failingSince, ...row }) => ({
    ...row,
    apiKeyId,
    host: new URL(url).host,
    problem: problem ?? undefined,
    failingSince: failingSince ?? undefined,
  }))
}

type StandingRow = {
  readonly api_key_id: string
  readonly label: string
  readonly url: string
  readonly waiting: number
  readonly failed: number
  readonly problem: string | null
  readonly failing_since: Date | null
}
