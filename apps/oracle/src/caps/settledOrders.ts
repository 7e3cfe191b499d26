import { ConfigurationError, type Hex, hex32Pattern } from '@causeway/core'
import { createLineJournal, type LineJournal, noJournal } from '@causeway/signer'
import { z } from 'zod'
import type { ProvenSettlement } from '../attestations/context.ts'
import type { WatchLog } from '../halt/watchedChain.ts'
import { claimSettlement, type OrderClaim } from './orderClaims.ts'

/** An order with its settlements that were signed. */
export type SettledOrder = { readonly orderId: Hex; readonly claims: readonly OrderClaim[] }

/** Remembers which payments settled which deposits of an order, so that no payment settles two sets of deposits. */
export interface SettledOrders {
  /**
   * Records a settlement before its signature. A recorded key is admitted again; a new one only if its payments
   * are free, can be freed, or were used by dust beside it (`claimSettlement`).
   * @returns false where it must not be signed. @param key of its execution, which names its deposits
   */
  admit(settlement: ProvenSettlement, key: Hex): boolean | Promise<boolean>
  /** See `LineJournal`. */
  isKept(): boolean
  close(): void
}

/** The store of one process, which is synchronous: no other request can come between judging and recording. */
export type OwnSettledOrders = SettledOrders & { admit(settlement: ProvenSettlement, key: Hex): boolean }

export type SettledOrdersJournal = LineJournal<SettledOrder>

const hex32 = z
  .string()
  .regex(hex32Pattern)
  .transform((text): Hex => `0x${text.slice(2)}`)
const proofSchema = z.array(z.string())
export const claimsSchema = z.array(
  z.strictObject({
    key: hex32,
    worth: z
      .string()
      .regex(/^\d+$/)
      .transform((text) => BigInt(text)),
    proofs: z.array(proofSchema),
    uses: proofSchema,
  }),
)
const lineSchema = z.strictObject({ orderId: hex32, claims: claimsSchema })

/** Claims in the JSON form that `claimsSchema` reads. */
export const claimsToJson = (claims: readonly OrderClaim[]): readonly object[] =>
  claims.map((claim) => ({ ...claim, worth: String(claim.worth) }))

const journalName = 'settled-orders.jsonl'

/** Most orders that are remembered; the one least recently settled or asked for is forgotten first. */
const ordersMaxDefault = 20_000

/** A file `settled-orders.jsonl` in `directory`. See `createLineJournal`. */
export function createSettledJournal(
  directory: string,
  onFailed: (error: unknown) => void,
): SettledOrdersJournal {
  return createLineJournal<SettledOrder>({
    directory,
    name: journalName,
    parse(line) {
      const parsed = lineSchema.safeParse(line)
      return parsed.success ? parsed.data : undefined
    },
    toLine: ({ orderId, claims }) => JSON.stringify({ orderId, claims: claimsToJson(claims) }),
    brokenLineError: (number) =>
      new ConfigurationError(
        `STATE_DIR: line ${number} of ${journalName} cannot be read. Which orders are settled is in it: mend the line, or remove the file and all it remembers.`,
      ),
    onFailed,
  })
}

/**
 * Opens the store of this process, with settlements of earlier runs where it has a `STATE_DIR`.
 * @throws ConfigurationError when `STATE_DIR` holds settlements that cannot be read
 */
export function openSettledOrders(
  { stateDirectory, isLocal }: { readonly stateDirectory: string | undefined; readonly isLocal: boolean },
  log: Pick<WatchLog, 'error' | 'warn'>,
): SettledOrders {
  if (stateDirectory === undefined) {
    const fields = { event: 'settled_orders_forgotten' }
    if (!isLocal) log.warn(fields, 'without STATE_DIR every start forgets which orders are settled')
    return createSettledOrders()
  }
  const warnNotKept = (error: unknown) =>
    log.error(
      { event: 'settled_order_not_kept', err: error },
      'which deposits an order was settled by could not be written to STATE_DIR',
    )
  return createSettledOrders(createSettledJournal(stateDirectory, warnNotKept))
}

/** Makes the store of one process. @throws ConfigurationError when the journal cannot be read or written */
export function createSettledOrders(
  journal: SettledOrdersJournal = noJournal,
  ordersMax: number = ordersMaxDefault,
): OwnSettledOrders {
  const orders = new Map<Hex, readonly OrderClaim[]>()

  function remember(orderId: Hex, claims: readonly OrderClaim[]): void {
    orders.delete(orderId)
    orders.set(orderId, claims)
    if (orders.size <= ordersMax) return
    const [oldest] = orders.keys()
    if (oldest !== undefined) orders.delete(oldest)
  }

  for (const { orderId, claims } of journal.load()) remember(orderId, claims)
  // The journal rewrites its file with the remembered orders, now and whenever it has grown too long.
  journal.begin(() => [...orders].map(([orderId, claims]) => ({ orderId, claims })))

  return {
    admit({ orderId, worth, payments }, key) {
      const before = orders.get(orderId) ?? []
      const claims = claimSettlement(before, { key, worth, proof: payments })
      if (claims === undefined) return false
      remember(orderId, claims)
      if (claims !== before) journal.append({ orderId, claims })
      return true
    },
    isKept: () => journal.isKept(),
    close: () => journal.close(),
  }
}
