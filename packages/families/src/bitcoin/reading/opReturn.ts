import type { BitcoinTransaction } from '../rules/transaction.ts'

/** Text of an OP_RETURN output. `vout`: index of the output. */
export type OpReturnText = { readonly vout: number; readonly text: string }

const opReturn = 0x6a
const longestDirectPush = 0x4b
/** Start of the data in a script by its push opcode, OP_PUSHDATA1 or OP_PUSHDATA2: it follows the length. */
const startAfterLength: Readonly<Record<number, number>> = { 76: 3, 77: 4 }

/**
 * Texts of the OP_RETURN outputs as UTF-8, in the order of the outputs: everything after the first push's opcode and
 * length. Bytes that are not valid UTF-8 become replacement characters.
 * @source rule F-131
 */
export function opReturnTexts({ outputs }: Pick<BitcoinTransaction, 'outputs'>): readonly OpReturnText[] {
  return outputs.flatMap(({ script }, vout) => {
    const start = dataStart(script)
    if (start === undefined) return []
    return [{ vout, text: Buffer.from(script.subarray(start)).toString('utf8') }]
  })
}

/** Index of the first byte of the data; `undefined` for other scripts, and where nothing is pushed. */
function dataStart(script: Uint8Array): number | undefined {
  const [opcode, push] = script
  if (opcode !== opReturn || push === undefined || push === 0) return undefined
  return push <= longestDirectPush ? 2 : startAfterLength[push]
}
