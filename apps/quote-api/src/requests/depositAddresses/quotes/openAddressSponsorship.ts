import type { HoldOutcome, HoldRequest, SqlTx } from '@causeway/core'
import { readPolicy } from '@causeway/ledger'

/** Use of a sponsor's money for one open deposit address so far: number and sum of payments, and the address's age. */
export type AddressUsage = {
  readonly uses: number
  readonly usedMicroUsd: bigint
  readonly ageSeconds: number
}

/** Limits of a sponsor's policy for one open address, that is one that may be paid again and again. */
export type AddressLimits = {
  readonly maxUses: number
  readonly maxMicroUsd: bigint
  readonly maxSeconds: number
}

/** Limits of a policy that sets none. @source Q-45 */
export const defaultAddressLimits: AddressLimits = {
  maxUses: 10,
  maxMicroUsd: 10_000_000n,
  maxSeconds: 7 * 86_400,
}

/** The limit that one more payment would break, named as in the error code `POLICY_<rule>`; undefined if none. Pure. */
export function brokenLimit(
  { uses, usedMicroUsd, ageSeconds }: AddressUsage,
  { maxUses, maxMicroUsd, maxSeconds }: AddressLimits,
  amountMicroUsd: bigint,
): string | undefined {
  if (ageSeconds >= maxSeconds) return 'MAX_SECONDS_PER_OPEN_ADDRESS'
  if (uses >= maxUses) return 'MAX_COUNT_PER_OPEN_ADDRESS'
  if (usedMicroUsd + amountMicroUsd > maxMicroUsd) return 'MAX_TOTAL_PER_OPEN_ADDRESS'
  return undefined
}

/**
 * Checks a sponsor's limits before one more payment to an open address is quoted. The caller has locked the address.
 * @returns the refusal; undefined if the payment is allowed
 */
export async function refuseEndedAddress(
  tx: SqlTx,
  address: string,
  hold: Pick<HoldRequest, 'apiKeyId' | 'amountMicroUsd'>,
): Promise<HoldOutcome | undefined> {
  const rules = (await readPolicy(tx, hold.apiKeyId))?.rules
  const limits: AddressLimits = {
    maxUses: rules?.maxCountPerOpenAddress ?? defaultAddressLimits.maxUses,
    maxMicroUsd: rules?.maxTotalPerOpenAddress ?? defaultAddressLimits.maxMicroUsd,
    maxSeconds: rules?.maxSecondsPerOpenAddress ?? defaultAddressLimits.maxSeconds,
  }
  const rule = brokenLimit(await readUsage(tx, address), limits, hold.amountMicroUsd)
  return rule === undefined ? undefined : { status: 'policy_refused', rule }
}

/**
 * Counts the sponsored payments whose sweep was asked for, except failed and refunded ones, which cost no
 * sponsor. The comparison in lower case is for the index; the next one decides.
 */
async function readUsage(tx: SqlTx, address: string): Promise<AddressUsage> {
  const [row] = await tx.query<{ uses: bigint; used: bigint; age: bigint }>(
    `select count(p.*)::bigint as uses, coalesce(sum(p.debit_micro_usd), 0)::numeric as used,
       (select floor(extract(epoch from clock_timestamp() - a.created_at))::bigint
        from deposit_address a where a.address = $1) as age
     from orders o join request_sponsorship p on p.request_id = o.request_id and p.sponsor is not null
     where lower(o.deposit_address) = lower($1) and o.deposit_address = $1 and o.status not in ('failure', 'refund')
       and (o.status <> 'waiting' or exists (select from work_item w where w.request_id = o.request_id
         and w.kind = 'sweep' and w.state in ('open', 'reported', 'done')))`,
    [address],
  )
  if (row === undefined) throw new Error('a sum has a row')
  return { uses: Number(row.uses), usedMicroUsd: BigInt(row.used), ageSeconds: Number(row.age) }
}
