import { z } from 'zod'

/** External input of a cluster. The same events in order recreate the cluster. */
export type ClusterEvent =
  | SentEvent
  | { readonly airdrop: string; readonly amount: bigint }
  | { readonly place: string; readonly owner: string; readonly data: Uint8Array }
  /** It follows a clock from this slot on. */
  | { readonly firstSlot: bigint; readonly slotMs: number }

/** A transaction, with the slot that it came into and the time there, in seconds since 1970. */
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
