import { type JsonRpcClient, MalformedAnswerError, parseQuantity, parseRecord } from '@causeway/chains'

const method = 'eth_getTransactionReceipt'

/**
 * What the sender of a transaction paid for it: gas, and the data fee of rollups, whose receipts tell it in a
 * member of their own.
 * @returns wei; `undefined` while the node has no such receipt
 * @throws MalformedAnswerError, NodeError, UpstreamUnavailableError
 */
export async function readGasPaidWei(
  client: Pick<JsonRpcClient, 'request'>,
  transactionHash: string,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const answer = await client.request({ method, params: [transactionHash] }, { signal })
  if (answer === null) return undefined
  const receipt = parseRecord(answer, method)
  if (receipt['transactionHash'] !== transactionHash) throw new MalformedAnswerError(method)
  const gas = parseQuantity(receipt['gasUsed'], method)
  const price = parseQuantity(receipt['effectiveGasPrice'], method)
  const dataFee = receipt['l1Fee']
  const dataFeeWei = dataFee === undefined || dataFee === null ? 0n : parseQuantity(dataFee, method)
  return gas * price + dataFeeWei
}
