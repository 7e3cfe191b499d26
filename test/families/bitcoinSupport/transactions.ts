import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { Transaction } from 'bitcoinjs-lib'

export { fundingTransaction as funding } from '@causeway/localnet/standIns/bitcoin'

export const depositoryKey = keyOf('depository')
export const additionalKey = keyOf('additional depository')
export const user = keyOf('user')
export const solver = keyOf('solver')

export const depository = depositoryKey.legacy.address
export const additional = additionalKey.witness.address

export const orderId = `0x${'ab'.repeat(32)}` as const
export const noOrder = `0x${'0'.repeat(64)}` as const
export const native = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'

export type Source = { readonly txid: string; readonly vout: number }
export type Output = { readonly script: Uint8Array; readonly value: bigint }

/** A transaction with these inputs and outputs, unsigned: readers look at scripts, not at signatures. */
export function paying(sources: readonly Source[], outputs: readonly Output[]): Transaction {
  const transaction = new Transaction()
  transaction.version = 2
  for (const { txid, vout } of sources) {
    transaction.addInput(Uint8Array.from(Buffer.from(txid, 'hex')).reverse(), vout)
  }
  for (const { script, value } of outputs) transaction.addOutput(script, value)
  return transaction
}

/** OP_RETURN with one push, in its shortest form. */
export function saying(text: string | Uint8Array): Output {
  const data = Buffer.from(text)
  const push =
    data.length <= 0x4b
      ? [data.length]
      : data.length <= 0xff
        ? [0x4c, data.length]
        : [0x4d, data.length & 0xff, data.length >> 8]
  return { script: Uint8Array.of(0x6a, ...push, ...data), value: 0n }
}
