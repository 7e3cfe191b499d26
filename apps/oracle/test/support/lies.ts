import { z } from 'zod'

/** Change that a lying node makes to true answers. */
export const lieSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('mutation'), seed: z.number().int() }),
  z.object({
    kind: z.literal('moved'),
    /** Amount that the transaction moved, and the one that it is said to have moved: 64 hex digits each. */
    amount: z.string().length(64),
    forgedAmount: z.string().length(64),
    /** The receipt's block number, as the node writes it, and the one where it is said to be. */
    blockNumber: z.string(),
    forgedBlockNumber: z.string(),
    blockHash: z.string(),
    forgedBlockHash: z.string(),
  }),
])
export type Lie = z.infer<typeof lieSchema>

type Call = { readonly id?: unknown; readonly method: string; readonly params: readonly unknown[] }
type Answer = Record<string, unknown>

/**
 * A whole story: the receipt names another amount in another block, and the block of that height has the
 * hash that the receipt names, so that the node contradicts nothing but other nodes.
 */
export function moveTransaction(
  text: string,
  calls: readonly Call[],
  lie: Extract<Lie, { kind: 'moved' }>,
): string {
  const answers: Answer | Answer[] = JSON.parse(text)
  const change = (answer: Answer): Answer => {
    const call = calls.find(({ id }) => id === answer['id'])
    if (call?.method === 'eth_getTransactionReceipt' || call?.method === 'eth_getTransactionByHash') {
      return JSON.parse(
        JSON.stringify(answer)
          .replaceAll(lie.amount, lie.forgedAmount)
          .replaceAll(`"${lie.blockNumber}"`, `"${lie.forgedBlockNumber}"`)
          .replaceAll(lie.blockHash, lie.forgedBlockHash),
      )
    }
    const isItsBlock = call?.method === 'eth_getBlockByNumber' && call.params[0] === lie.forgedBlockNumber
    return isItsBlock
      ? { ...answer, result: { ...Object(answer['result']), hash: lie.forgedBlockHash } }
      : answer
  }
  return JSON.stringify(Array.isArray(answers) ? answers.map(change) : change(answers))
}
