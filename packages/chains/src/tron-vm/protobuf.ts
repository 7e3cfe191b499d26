import { MalformedAnswerError } from '../rpc/malformedAnswer.ts'

/** One field of a message, by its number: an integer of 64 bits without sign, or bytes. */
export type ProtobufField = { readonly number: number; readonly value: bigint | Uint8Array }

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
/** Seven bits a byte. */
const varintBytesMax = 10

/**
 * The fields of a message in the order of its bytes; those of fixed size are passed over.
 * @throws MalformedAnswerError where the bytes end early or hold what is no field
 * @source Protocol Buffers, "Encoding"
 */
export function readFields(message: Uint8Array, what: string): readonly ProtobufField[] {
  const fields: ProtobufField[] = []
  let at = 0

  const take = (length: number): Uint8Array => {
    if (at + length > message.length) throw new MalformedAnswerError(what)
    const bytes = message.subarray(at, at + length)
    at += length
    return bytes
  }
  const takeVarint = (): bigint => {
    let value = 0n
    for (let position = 0; position < varintBytesMax; position += 1) {
      const byte = BigInt(take(1)[0] ?? 0)
      value |= (byte & 0x7fn) << BigInt(7 * position)
      if (byte < 0x80n) return BigInt.asUintN(64, value)
    }
    throw new MalformedAnswerError(what)
  }

  while (at < message.length) {
    const tag = Number(takeVarint())
    const number = Math.floor(tag / 8)
    switch (tag % 8) {
      case wireTypes.varint:
        fields.push({ number, value: takeVarint() })
        break
      case wireTypes.bytes:
        fields.push({ number, value: take(Number(takeVarint())) })
        break
      case wireTypes.fixed64:
        take(8)
        break
      case wireTypes.fixed32:
        take(4)
        break
      default:
        throw new MalformedAnswerError(what)
    }
  }
  return fields
}

/** The last one counts where a field comes twice; absent means zero. */
export function integerField(fields: readonly ProtobufField[], number: number): bigint {
  const values = fields.flatMap((field) =>
    field.number === number && typeof field.value === 'bigint' ? [field.value] : [],
  )
  return values.at(-1) ?? 0n
}

/** The last one counts where a field comes twice; absent means empty. */
export function bytesField(fields: readonly ProtobufField[], number: number): Uint8Array {
  return bytesFields(fields, number).at(-1) ?? new Uint8Array()
}

export function bytesFields(fields: readonly ProtobufField[], number: number): readonly Uint8Array[] {
  return fields.flatMap((field) =>
    field.number === number && typeof field.value !== 'bigint' ? [field.value] : [],
  )
}
