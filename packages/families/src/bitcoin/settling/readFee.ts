import type { ChainClient } from '@causeway/rpc'
import { MalformedAnswerError, parseRecord } from '@causeway/rpc'
import { parseSeenTransaction } from '../reading/bitcoinView.ts'
import type { BitcoinTransaction } from '../rules/transaction.ts'

/**
 * Fee that a transaction left to its miner, in satoshi: inputs less outputs. Both are read from bytes that hash to the
 * ids, so no endpoint can change them.
 * `undefined` while there is no such transaction. @throws upstream errors, MalformedAnswerError
 */
export async function readFee(
  client: ChainClient,
  transactionId: string,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const [transaction] = await readTransactions(client, [transactionId], signal)
  if (transaction === undefined) return undefined
  const fundingTransactions = await readTransactions(
    client,
    transaction.inputs.map(({ txid }) => txid),
    signal,
  )
  const spent = transaction.inputs.map(({ vout }, index) => {
    const output = fundingTransactions[index]?.outputs[vout]
    if (output === undefined) throw new MalformedAnswerError('getrawtransaction')
    return output
  })
  const sum = (outputs: readonly { readonly value: bigint }[]) =>
    outputs.reduce((total, { value }) => total + value, 0n)
  return sum(spent) - sum(transaction.outputs)
}

/**
 * Transactions in the order of their ids; `undefined` for one that the endpoint does not have.
 * @throws upstream errors, MalformedAnswerError
 */
export async function readTransactions(
  client: ChainClient,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly (BitcoinTransaction | undefined)[]> {
  const requestName = 'getrawtransaction'
  const calls = ids.map((id) => ({ method: requestName, params: [id, true] }))
  const answers = await client.batch(calls, { signal })
  return ids.map((transactionId, index) => {
    const answer = answers[index]
    if (answer?.ok !== true) return undefined
    const { hex } = parseRecord(answer.result, requestName)
    return parseSeenTransaction(hex, { transactionId, block: undefined }, requestName).transaction
  })
}
