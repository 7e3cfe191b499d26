// A real node with the real contracts, acted on like a model.

import type { Hex } from '@causeway/core'
import type { LocalChain } from '@causeway/localnet'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { type Abi, BaseError, decodeErrorResult, isHex } from 'viem'
import type { Chain, Receipt, SentTransaction } from './chain.ts'

const gas: Hex = '0xf42400'

export class NodeChain implements Chain {
  readonly id: string
  readonly chainId: number
  readonly #local: LocalChain
  readonly #errors: Abi
  readonly #impersonated = new Set<Hex>()
  readonly #receipts = new Map<Hex, Receipt>()
  #headSeconds = 0n
  #headNumber = 0

  /** @param errors of all contracts, to name what reverts */
  constructor(id: string, local: LocalChain, errors: Abi) {
    this.id = id
    this.chainId = local.chainId
    this.#local = local
    this.#errors = errors
  }

  get headSeconds(): bigint {
    return this.#headSeconds
  }

  get headNumber(): number {
    return this.#headNumber
  }

  async open(): Promise<this> {
    await this.#look()
    return this
  }

  async transact(sent: SentTransaction): Promise<Receipt> {
    const { from, to, data = '0x', value = 0n } = sent
    await this.#impersonate(from)
    const errorName = await this.#errorNameOf({ account: from, to, data, value })
    const id = await this.#local.client.request<{ Method: string; Parameters: unknown; ReturnType: Hex }>({
      method: 'eth_sendTransaction',
      params: [{ from, to, data, value: `0x${value.toString(16)}`, gas }],
    })
    const receipt = await this.#mined(id)
    await this.#look()
    const known: Receipt = {
      id,
      from,
      to,
      value,
      errorName,
      blockNumber: Number(receipt.blockNumber),
      succeeded: receipt.status === '0x1',
      logs: receipt.logs.map(({ address, topics, data: logData }) => ({ address, topics, data: logData })),
    }
    this.#receipts.set(id, known)
    return known
  }

  async mine(blocks: number): Promise<void> {
    await this.#local.node.mine({ blocks, interval: 1 })
    await this.#look()
  }

  async pass(seconds: bigint): Promise<void> {
    await this.#local.node.increaseTime({ seconds: Number(seconds) })
    await this.mine(1)
  }

  /**
   * Replaces the newest blocks. `comesBack`: their transactions are sent again as they were signed; otherwise the new
   * blocks are empty.
   */
  async reorganize(blocks: number, comesBack: boolean): Promise<void> {
    const head = Number(await this.#local.client.getBlockNumber({ cacheTime: 0 }))
    const dropped = [...this.#receipts.values()].filter(({ blockNumber }) => blockNumber > head - blocks)
    const sentAgain = dropped.map(({ id }) => this.#local.client.getTransaction({ hash: id }))
    const again = comesBack ? await Promise.all(sentAgain) : []
    await this.#local.client.request<{ Method: string; Parameters: unknown; ReturnType: unknown }>({
      method: 'anvil_reorg',
      params: [blocks, []],
    })
    // Coin given to impersonated accounts for gas was in no block: it is lost with the state of the dropped ones.
    this.#impersonated.clear()
    for (const { id } of dropped) this.#receipts.delete(id)
    for (const transaction of again) {
      const { from, to, input: data, value } = transaction
      if (to === null) continue
      const old = transaction.hash
      const receipt = await this.transact({ from, to, data, value })
      this.#receipts.set(old, { ...receipt, id: old })
    }
    await this.mine(1)
  }

  receiptOf(id: Hex): Receipt | undefined {
    return this.#receipts.get(id)
  }

  async call(to: Hex, data: Hex, height?: number): Promise<Hex> {
    const { data: result = '0x' } = await this.#local.client.call({ to, data, ...at(height) })
    return result
  }

  weiOf(account: Hex, height?: number): Promise<bigint> {
    return this.#local.client.getBalance({ address: account, ...at(height) })
  }

  async ask({ method, params }: RpcCall): Promise<RpcAnswer> {
    try {
      const result = await this.#local.client.request<{
        Method: string
        Parameters: unknown
        ReturnType: unknown
      }>({ method, params })
      return { ok: true, result }
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      return { ok: false, code: 3, message: error.shortMessage }
    }
  }

  /** Gas is the local network's business, not the model's. */
  async #impersonate(address: Hex): Promise<void> {
    if (this.#impersonated.has(address)) return
    this.#impersonated.add(address)
    await this.#local.node.impersonateAccount({ address })
    await this.#local.node.setBalance({ address, value: 10n ** 24n })
  }

  async #mined(id: Hex) {
    for (;;) {
      const receipt = await this.#local.client.request({
        method: 'eth_getTransactionReceipt',
        params: [id],
      })
      if (receipt !== null) return receipt
    }
  }

  async #look(): Promise<void> {
    const { timestamp, number } = await this.#local.client.getBlock()
    this.#headSeconds = timestamp
    this.#headNumber = Number(number)
  }

  async #errorNameOf(call: { account: Hex; to: Hex; data: Hex; value: bigint }): Promise<string | undefined> {
    try {
      await this.#local.client.call(call)
      return undefined
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      const data = revertDataOf(error)
      if (data === '0x') return 'no data'
      const { errorName, args } = decodeErrorResult({ abi: this.#errors, data })
      return errorName === 'Error' || errorName === 'Panic' ? `${errorName}(${args?.join()})` : errorName
    }
  }
}

const at = (height: number | undefined) => (height === undefined ? {} : { blockNumber: BigInt(height) })

function revertDataOf(error: BaseError): Hex {
  const holder: unknown = error.walk(
    (cause) => typeof cause === 'object' && cause !== null && 'data' in cause && isHex(cause.data),
  )
  if (typeof holder !== 'object' || holder === null || !('data' in holder) || !isHex(holder.data)) return '0x'
  return holder.data
}
