import { type JsonRpcClient, MalformedAnswerError, parseQuantity, parseRecord } from '@causeway/rpc'

const method = 'eth_getTransactionReceipt'

/**
 * Fee that the sender of a transaction paid, from one endpoint's receipt: gas, and the data fee of a rollup (`l1Fee`).
 * @returns wei; `undefined` while the node has no such receipt
 * @throws MalformedAnswerError, NodeError, UpstreamUnavailableError
 */
export async function readFee(
  client: Pick<JsonRpcClient, 'request'>,
  transactionId: string,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const answer = await client.request({ method, params: [transactionId] }, { signal })
  if (answer === null) return undefined
  const receipt = parseRecord(answer, method)
  if (receipt['transactionHash'] !== transactionId) throw new MalformedAnswerError(method)
  const gas = parseQuantity(receipt['gasUsed'], method)
  const price = parseQuantity(receipt['effectiveGasPrice'], method)
  const dataFee = receipt['l1Fee']
  const dataFeeWei = dataFee === undefined || dataFee === null ? 0n : parseQuantity(dataFee, method)
  return gas * price + dataFeeWei
}
