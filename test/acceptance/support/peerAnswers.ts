// Answers of an oracle's peers: the truth, signed by whoever a test names, or something else.
import { type DepositsResponse, depositsResponseSchema, type SignatureContext } from '@causeway/attestations'
import {
  depositsExecutionKey,
  encodeMintAction,
  type Hex,
  hubTokenId,
  orderAddress,
  type Signer,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { z } from 'zod'
import { ask, kindOf } from './attesting.ts'
import type { Answering, OracleWorld } from './oracleWorld.ts'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const

/** An answer that these signed, whatever it held before. */
export async function signedAnswer(
  { context }: OracleWorld,
  {
    path,
    answer,
    by,
    under = context,
  }: {
    readonly path: string
    readonly answer: unknown
    readonly by: readonly Signer[]
    readonly under?: SignatureContext
  },
) {
  return z.looseObject({}).parse(await kindOf(path).sign(answer, by, under))
}

/** A peer that reads the same chains, and signs what it finds. */
export function honest(world: OracleWorld, ...by: readonly Signer[]): Answering {
  return async ({ path, body }) => {
    const own = await ask(world.first, path, { ...body, requestPeerSignatures: false })
    if (own.status !== 200) return { status: own.status, body: own.body }
    return { body: await signedAnswer(world, { path, answer: own.body, by }) }
  }
}

/** A peer that says one thing, whatever it is asked. */
export function saying(body: unknown): Answering {
  return async () => ({ body: await body })
}

export const silent: Answering = () => new Promise<never>(() => undefined)
/** As a peer does that cannot see the fact: it is not failing. */
export const refusing: Answering = () => ({ status: 400, body: { errorCode: 'TRANSACTION_MISSING' } })
export const failing: Answering = () => ({ status: 500, body: {} })

/**
 * A true answer about one deposit of Base, but with other amounts, one deposit for each, or of another
 * transaction: nothing in it contradicts itself, and nobody signed it.
 */
export function depositsOf(
  truth: unknown,
  change: { readonly amounts?: readonly string[]; readonly transactionId?: Hex },
): DepositsResponse {
  const { messages, execution } = depositsResponseSchema.parse(truth)
  const [message] = messages
  const [metadata] = execution?.metadata ?? []
  if (message === undefined || metadata === undefined) throw new Error('the true answer has one deposit')
  const { result, extraData, data } = message
  const { amounts = [result.amount], transactionId = data.transactionId } = change
  const token = hubTokenId(base, result.currency)
  const hubTo = orderAddress(base, { ...result, timestampSeconds: BigInt(extraData.timestamp) })
  return {
    messages: amounts.map((amount, index) => ({
      data: { ...data, transactionId },
      result: { ...result, amount, onchainId: `0x${String(index + 1).repeat(64)}` },
      extraData,
      signatures: [],
    })),
    execution: {
      idempotencyKey: depositsExecutionKey({ chainId: base.chainId, transactionId }),
      actions: amounts.map((amount) =>
        encodeMintAction({ hubTo, hubTokenId: token, amount: BigInt(amount) }),
      ),
      metadata: amounts.map(() => metadata),
      signatures: [],
    },
  }
}
