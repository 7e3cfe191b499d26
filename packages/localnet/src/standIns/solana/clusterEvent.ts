import { z } from 'zod'

/** External input of a cluster, kept in its journal. The same events in order recreate the cluster. */
export type ClusterEvent =
  | SentEvent
  /** An account gets lamports from nothing. */
  | { readonly airdrop: string; readonly amount: bigint }
  /** An account at the address `place` gets an owning program and data. */
  | { readonly place: string; readonly owner: string; readonly data: Uint8Array }
  /** From this slot on, slots follow the clock. */
  | { readonly firstSlot: bigint; readonly slotMs: number }

/** A transaction that was executed, with its slot and the Unix time of that slot. */
export type SentEvent = { readonly bytes: Uint8Array; readonly slot: bigint; readonly timeSeconds: bigint }

const bytes = z.codec(
  z.base64(),
  z.custom<Uint8Array>((data) => data instanceof Uint8Array),
  {
    decode: (text) => new Uint8Array(Buffer.from(text, 'base64')),
    encode: (data) => Buffer.from(data).toString('base64'),
  },
)
const integer = z.codec(z.string().regex(/^[0-9]+$/), z.bigint(), {
  decode: BigInt,
  encode: String,
})

/** Events as JSON can hold them. */
export const clusterEventSchema = z.union([
  z.object({ bytes, slot: integer, timeSeconds: integer }),
  z.object({ airdrop: z.string(), amount: integer }),
  z.object({ place: z.string(), owner: z.string(), data: bytes }),
  z.object({ firstSlot: integer, slotMs: z.number().int().positive() }),
])
