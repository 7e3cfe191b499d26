import type { Hex } from '@causeway/core'
import { encodeTopUp } from '@causeway/families/rules'
import type { ScriptedTransaction } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { createTopUpChain, type TopUpChain } from '../../src/money/topUps/topUpChain.ts'

export const token: Hex = `0x${'dc'.repeat(20)}`
export const custody: Hex = `0x${'c0'.repeat(20)}`
const target = { token, custody, allowTrailing: true }

const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export const hexOf = (value: number, bytes: number): Hex => `0x${value.toString(16).padStart(2 * bytes, '0')}`
const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`

export function transferLog(from: Hex, value: bigint, emitter: Hex = token, to: Hex = custody) {
  const data: Hex = `0x${value.toString(16).padStart(64, '0')}`
  return { address: emitter, topics: [transferTopic, word(from), word(to)], data }
}

/** A wallet sends the token to custody with a tail that names `owner`. */
export function topUpTransaction(args: {
  id: number
  owner: Hex
  value: bigint
  from?: Hex
}): ScriptedTransaction {
  const { id, owner, value, from = hexOf(0xaa00 + id, 20) } = args
  const { to, data } = encodeTopUp({ token, custody, amountMicroUsd: value, owner })
  return { hash: hexOf(0x77000000 + id, 32), from, to, input: data, logs: [transferLog(from, value)] }
}

/** A plain transfer that nobody is named in. */
export function plainTransaction(args: { id: number; value: bigint; from?: Hex }): ScriptedTransaction {
  const { id, value, from = hexOf(0xaa00 + id, 20) } = args
  const topUp = topUpTransaction({ id, owner: from, value, from })
  return { ...topUp, input: `0x${topUp.input.slice(2, 2 + 2 * 68)}` }
}

/** The token moves between strangers in the same block: shifts the log indexes of what follows. */
export function noiseTransaction(id: number): ScriptedTransaction {
  const from = hexOf(0xbb00 + id, 20)
  const other = hexOf(0xbc00 + id, 20)
  return {
    hash: hexOf(0x66000000 + id, 32),
    from,
    to: token,
    input: '0x',
    logs: [transferLog(from, 5n, token, other), transferLog(from, 6n, token, other)],
  }
}

export function chainOver(
  urls: readonly string[],
  options: { chainId: number; mode?: 'strict' | 'trace'; onMalformed?: (alias: string) => void },
): TopUpChain & { close(): Promise<void> } {
  const { chainId, mode = 'strict', onMalformed = () => {} } = options
  const client = createJsonRpcClient({
    chainId: `scripted-${chainId}`,
    endpoints: urls.map((url) => ({ url })),
  })
  const chain = createTopUpChain({ client, chainId, target, mode, onMalformed })
  return Object.assign(chain, { close: () => client.close() })
}
