import type { BitcoinTransaction } from '../rules/transaction.ts'

export type OpReturnText = { readonly vout: number; readonly text: string }

const opReturn = 0x6a
const longestDirectPush = 0x4b
/** Bytes before the data, by the opcode that pushes it. */
const pushWithLength: Readonly<Record<number, number>> = { 76: 3, 77: 4 }

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

function isOpReturn(script: Uint8Array): boolean {
  return script[0] === opReturn
}

function dataStart(script: Uint8Array): number | undefined {
  const push = script[1]
  if (!isOpReturn(script) || push === undefined || push === 0) return undefined
  return push <= longestDirectPush ? 2 : pushWithLength[push]
}
