import { type Hex, keccak256Hex } from '@causeway/core'

/** Transaction of a scripted block, with the outcome that a node would have computed. */
export type ScriptedTransaction = {
  readonly hash: Hex
  readonly from: Hex
  readonly to: Hex | null
  readonly input: Hex
  /** Default true. */
  readonly succeeded?: boolean
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
  /** Answer of the call tracer; absent: this node cannot trace. */
  readonly trace?: unknown
}

export type ScriptedBlock = {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly transactions: readonly ScriptedTransaction[]
}

/**
 * Blocks of one scripted chain and which of them are canonical. Nothing is executed: a test says what every block holds,
 * which fork wins and what is final, so that it can try histories that no real node can be made to produce.
 */
export interface BlockTree {
  /** Adds a block to the canonical chain. */
  mine(transactions?: readonly ScriptedTransaction[]): ScriptedBlock
  /** Drops the last `depth` canonical blocks and adds others in their place. @throws RangeError below genesis */
  reorg(depth: number, blocks: readonly (readonly ScriptedTransaction[])[]): void
  /** Makes a block and its ancestors canonical again, e.g. one that was dropped. */
  switchTo(hash: Hex): void
  /** Blocks up to this height are final. */
  finalize(height: number): void
  finalHeight(): number
  /** The canonical blocks from genesis to the head. */
  canonical(): readonly ScriptedBlock[]
}

export function createBlockTree(): BlockTree {
  // Makes the hashes of blocks with the same parent differ.
  let salt = 0
  let finalHeight = 0
  const blocks = new Map<Hex, ScriptedBlock>()
  const create = (parent: ScriptedBlock | undefined, transactions: readonly ScriptedTransaction[]) => {
    salt += 1
    const number = parent === undefined ? 0 : parent.number + 1
    const parentHash = parent?.hash ?? noHash
    const hash = hashOf(`${parentHash} ${salt}`)
    const block = { number, hash, parentHash, transactions }
    blocks.set(hash, block)
    return block
  }
  let chain: readonly ScriptedBlock[] = [create(undefined, [])]

  const mine: BlockTree['mine'] = (transactions = []) => {
    const block = create(chain.at(-1), transactions)
    chain = [...chain, block]
    return block
  }
  return {
    mine,
    reorg(depth, replacements) {
      if (depth >= chain.length) throw new RangeError('a reorganization cannot replace genesis')
      chain = chain.slice(0, chain.length - depth)
      for (const transactions of replacements) mine(transactions)
    },
    switchTo(hash) {
      const branch: ScriptedBlock[] = []
      for (let block = blocks.get(hash); block !== undefined; block = blocks.get(block.parentHash)) {
        branch.unshift(block)
      }
      if (branch.length === 0) throw new RangeError('no such block')
      chain = branch
    },
    finalize(height) {
      finalHeight = height
    },
    finalHeight: () => finalHeight,
    canonical: () => chain,
  }
}

const noHash: Hex = `0x${'0'.repeat(64)}`

function hashOf(text: string): Hex {
  return keccak256Hex(new TextEncoder().encode(text))
}
