import type { Hex } from '@causeway/core'
import {
  type ContractModel,
  ContractState,
  type Frame,
  type Method,
  Revert,
} from '../contracts/contractModel.ts'
import { textHash } from '../hash.ts'
import { answerCall, type CallTrace, type ModelBlock, type ModelTransaction, type Viewed } from './answers.ts'
import type { Chain, Receipt, SentTransaction } from './chain.ts'
import { VersionedState } from './versionedState.ts'

/** Seconds from block to block. */
const blockSeconds = 2n

export type ModelChainOptions = {
  readonly id: string
  readonly chainId: number
  readonly startSeconds: bigint
  readonly contracts: ReadonlyMap<Hex, ContractModel>
  /** Writes what deployment leaves behind. */
  readonly deploy: (
    stateOf: (contract: Hex) => ContractState,
    fund: (account: Hex, wei: bigint) => void,
  ) => void
}

type Entry = { readonly transaction: ModelTransaction; readonly sent: SentTransaction }

/** A chain of contract models: one block per transaction, blocks that a reorganization replaces, no gas. */
export class ModelChain implements Chain {
  readonly id: string
  readonly chainId: number
  readonly #state = new VersionedState()
  readonly #contracts: ReadonlyMap<Hex, ContractModel>
  readonly #blocks: ModelBlock[] = []
  #entries: Entry[] = []
  readonly #byId = new Map<Hex, ModelTransaction>()
  #seconds: bigint
  #sentCount = 0
  #forks = 0

  constructor({ id, chainId, startSeconds, contracts, deploy }: ModelChainOptions) {
    this.id = id
    this.chainId = chainId
    this.#contracts = contracts
    this.#seconds = startSeconds
    this.#addBlock()
    deploy(
      (contract) => new ContractState(this.#state, contract),
      (account, wei) => this.#state.set(`wei ${account}`, wei),
    )
  }

  get headSeconds(): bigint {
    return this.#head.timestamp
  }

  get headNumber(): number {
    return this.#head.number
  }

  async transact(sent: SentTransaction): Promise<Receipt> {
    this.#sentCount += 1
    return this.#include(sent, textHash(`${this.id} ${this.#sentCount} ${sent.from} ${sent.to} ${sent.data}`))
  }

  async mine(blocks: number): Promise<void> {
    for (let count = 0; count < blocks; count += 1) this.#addBlock()
  }

  async pass(seconds: bigint): Promise<void> {
    this.#seconds += seconds
    this.#addBlock()
  }

  async reorganize(blocks: number, comesBack: boolean): Promise<void> {
    const height = Math.max(this.#head.number - blocks, 0)
    this.#forks += 1
    const dropped = this.#entries.filter(({ transaction }) => transaction.blockNumber > height)
    this.#entries = this.#entries.filter(({ transaction }) => transaction.blockNumber <= height)
    for (const { transaction } of dropped) this.#byId.delete(transaction.id)
    const missing = this.#head.number - height
    this.#blocks.splice(height + 1)
    this.#state.rewind(height)
    for (const { sent, transaction } of comesBack ? dropped : []) this.#include(sent, transaction.id)
    await this.mine(Math.max(missing + 1 - (comesBack ? dropped.length : 0), 1))
  }

  receiptOf(id: Hex): Receipt | undefined {
    return this.#byId.get(id)
  }

  async call(to: Hex, data: Hex, height?: number): Promise<Hex> {
    return this.view({ to, data }, height)
  }

  /** @param height default the newest block's @throws Revert */
  view({ to, data, from = zeroAddress, value = 0n }: Viewed, height?: number): Hex {
    const block = height === undefined ? this.#head : this.#blocks[height]
    const execution = { block: block ?? this.#head, logs: [], ...(height !== undefined && { height }) }
    const mark = this.#state.mark()
    try {
      return this.#call(execution, { caller: from, to, data, value }).result
    } finally {
      this.#state.undoTo(mark)
    }
  }

  async weiOf(account: Hex, height?: number): Promise<bigint> {
    return this.#state.number(`wei ${account}`, height)
  }

  ask(call: Parameters<Chain['ask']>[0]) {
    return answerCall(call, {
      blocks: this.#blocks,
      transactionOf: (id) => this.#byId.get(id),
      view: (viewed, height) => this.view(viewed, height),
      hasCode: (account) => this.#contracts.has(account),
    })
  }

  get #head(): ModelBlock {
    const head = this.#blocks.at(-1)
    if (head === undefined) throw new Error('a chain begins with a block')
    return head
  }

  #addBlock(): ModelBlock {
    const number = this.#blocks.length
    this.#seconds += blockSeconds
    const block = { number, timestamp: this.#seconds, hash: textHash(`${this.id} ${number} ${this.#forks}`) }
    this.#blocks.push(block)
    this.#state.openBlock(number)
    return block
  }

  #include(sent: SentTransaction, id: Hex): Receipt {
    const block = this.#addBlock()
    const execution: Execution = { block, logs: [] }
    const { from, to, data = '0x', value = 0n } = sent
    const transaction: ModelTransaction = {
      id,
      from,
      to,
      input: data,
      value,
      blockNumber: block.number,
      blockHash: block.hash,
      ...this.#run(execution, { caller: from, to, data, value }),
    }
    this.#entries.push({ transaction, sent })
    this.#byId.set(id, transaction)
    return transaction
  }

  #run(
    execution: Execution,
    call: Call,
  ): Pick<ModelTransaction, 'succeeded' | 'errorName' | 'logs' | 'trace'> {
    try {
      const { trace } = this.#call(execution, call)
      const logs = execution.logs.map((log, logIndex) => ({ ...log, logIndex: BigInt(logIndex) }))
      return { succeeded: true, errorName: undefined, logs, trace }
    } catch (error) {
      if (!(error instanceof Revert)) throw error
      return { succeeded: false, errorName: error.errorName, logs: [], trace: undefined }
    }
  }

  #call(execution: Execution, call: Call): { readonly result: Hex; readonly trace: CallTrace } {
    const { caller, to, data, value } = call
    const mark = this.#state.mark()
    const logsBefore = execution.logs.length
    const inner: CallTrace[] = []
    try {
      this.#pay(caller, to, value)
      const trace: CallTrace = { from: caller, to, value, input: data, calls: inner }
      const contract = this.#contracts.get(to)
      if (contract === undefined) return { result: '0x', trace }
      const method = data === '0x' ? contract.get('receive') : methodOf(contract, data)
      if (method === undefined) return { result: '0x', trace }
      const frame: Frame = {
        self: to,
        caller,
        value,
        chainId: this.chainId,
        timestamp: execution.block.timestamp,
        state: new ContractState(this.#state, to, execution.height),
        emit: (log) => execution.logs.push({ address: to, ...log }),
        hasCode: (account) => this.#contracts.has(account),
        call: (target, calldata, wei = 0n) => {
          const called = this.#call(execution, { caller: to, to: target, data: calldata, value: wei })
          inner.push(called.trace)
          return called.result
        },
      }
      return { result: method.run(frame, `0x${data.slice(10)}`), trace }
    } catch (error) {
      this.#state.undoTo(mark)
      execution.logs.splice(logsBefore)
      throw error
    }
  }

  #pay(from: Hex, to: Hex, wei: bigint): void {
    if (wei === 0n) return
    const held = this.#state.number(`wei ${from}`)
    if (held < wei) throw new Revert('no data')
    this.#state.set(`wei ${from}`, held - wei)
    this.#state.set(`wei ${to}`, this.#state.number(`wei ${to}`) + wei)
  }
}

function methodOf(contract: ContractModel, data: Hex): Method {
  const method = contract.get(data.slice(0, 10)) ?? contract.get('fallback')
  if (method === undefined) throw new Revert('no data')
  return method
}

type Execution = {
  readonly block: ModelBlock
  /** Block of a view, whose storage is read as it was there. */
  readonly height?: number
  readonly logs: { address: Hex; topics: readonly Hex[]; data: Hex }[]
}

type Call = { readonly caller: Hex; readonly to: Hex; readonly data: Hex; readonly value: bigint }

const zeroAddress: Hex = `0x${'0'.repeat(40)}`
