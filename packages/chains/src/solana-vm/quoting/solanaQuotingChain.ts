import {
  type AccountLack,
  associatedTokenAccount,
  solanaCodec,
  solanaLibrary,
  token2022Program,
  tokenProgram,
} from '@causeway/core'
import type { QuotingChain, QuotingChainFamily, UserFacts } from '../../family/quotingChain.ts'
import { createJsonRpcClient } from '../../rpc/client.ts'
import type { JsonRpcClient, RpcAnswer } from '../../rpc/jsonRpc.ts'
import { LruCache } from '../../rpc/lruCache.ts'
import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { parseAccounts, type ShownAccount } from '../answers.ts'
import { accountsCall, solanaHeadTracking } from '../requests.ts'
import { readTokenMint, type TokenMint } from './tokenMint.ts'

/** Mints that are remembered: the program and the extensions of one never change. */
const mintsMax = 1_000
const tokenPrograms: ReadonlySet<string> = new Set([tokenProgram, token2022Program])
const tokenAmountAt = 64
const lacksNothing: AccountLack = {}

/**
 * Accounts as clusters show them at the newest confirmed slot. What is only shown, a user's balance, is asked of
 * one endpoint; what is charged or refused for, of all of them.
 */
export const solanaQuotingChain: QuotingChainFamily = {
  connect: ({ id, endpoints, rpcThreshold }) =>
    createJsonRpcClient({
      chainId: id,
      endpoints: endpoints.map((url) => ({ url })),
      threshold: rpcThreshold,
      now: () => Date.now(),
      headTracking: solanaHeadTracking,
      // Endpoints lie further apart in slots than in blocks of seconds.
      lagBlocksMax: 50,
    }),
  open({ client, budgetMs, onFailure }): QuotingChain {
    const mints = new LruCache<TokenMint>(mintsMax)

    /** Undefined where nothing is known in time; never rejects. */
    const inTime = async <Value>(work: (limits: Limits) => Promise<Value>): Promise<Value | undefined> => {
      const limits = { timeoutMs: budgetMs }
      try {
        return await work(limits)
      } catch (error) {
        onFailure(error)
        return undefined
      }
    }
    const mintOf = async (currency: string, limits: Limits): Promise<TokenMint | undefined> => {
      const known = mints.get(currency)
      if (known !== undefined) return known
      const mint = await agreedOn(
        client,
        [currency],
        ([account]) => account && readTokenMint(account.owner, account.data),
        limits,
      )
      if (mint !== undefined) mints.set(currency, mint)
      return mint
    }

    return {
      async userFacts({ user, currency, touched = [] }): Promise<UserFacts> {
        const balance = await inTime(async (limits) => {
          if (currency === solanaCodec.nativeCurrency) return lamportsOf(await shown(client, user, limits))
          const mint = await mintOf(currency, limits)
          if (mint === undefined) return undefined
          const holder = tokenAccountOf(user, currency, mint)
          return tokensOf(await shown(client, holder, limits))
        })
        return { ...(balance !== undefined && { balance }), held: touched.map(() => undefined) }
      },
      lackOf: (account, currency) =>
        inTime(async (limits) => {
          if (currency === solanaCodec.nativeCurrency) return lacksNothing
          const mint = await mintOf(currency, limits)
          if (mint === undefined) return undefined
          const holder = tokenAccountOf(account, currency, mint)
          const isThere = ([found]: readonly (ShownAccount | undefined)[]) => found?.owner === mint.program
          const has = await agreedOn(client, [holder], isThere, limits)
          return has ? lacksNothing : { stateBytes: mint.accountBytes }
        }),
      hasCode: (account) =>
        inTime(async (limits) => {
          const { PublicKey } = solanaLibrary()
          // Nobody has the key of such an address: a program signs for it, or nobody does.
          if (!PublicKey.isOnCurve(new PublicKey(account).toBytes())) return true
          const isCode = ([found]: readonly (ShownAccount | undefined)[]) =>
            found !== undefined && (found.isExecutable || tokenPrograms.has(found.owner))
          return agreedOn(client, [account], isCode, limits)
        }),
      unitsOfCalls: undefined,
    }
  },
}

type Limits = { readonly timeoutMs: number }

/** @throws MalformedAnswerError, and what the client throws */
async function shown(
  client: JsonRpcClient,
  account: string,
  limits: Limits,
): Promise<ShownAccount | undefined> {
  const [answer] = await client.batch([accountsCall([account])], limits)
  return parseAccounts(answer, 1)[0]
}

/**
 * What enough endpoints say of accounts, each at its own newest slot. An answer that cannot be read is a voice of its
 * own: one endpoint keeps nobody from an answer by it.
 * @param read what is asked of them; it is compared whole @throws as `shown`, UpstreamDisagreementError
 */
async function agreedOn<Said>(
  client: JsonRpcClient,
  accounts: readonly string[],
  read: (found: readonly (ShownAccount | undefined)[]) => Said,
  limits: Limits,
): Promise<Said> {
  const said = (answer: RpcAnswer | undefined) => read(parseAccounts(answer, accounts.length))
  const { answers } = await client.agree([accountsCall(accounts)], {
    ...limits,
    project([answer]) {
      try {
        return { said: said(answer) ?? null }
      } catch (error) {
        if (error instanceof MalformedAnswerError) return { unreadable: error.message }
        throw error
      }
    },
  })
  return said(answers[0])
}

function tokenAccountOf(owner: string, mint: string, { program }: TokenMint): string {
  const { PublicKey } = solanaLibrary()
  return associatedTokenAccount(new PublicKey(owner), { mint, tokenProgram: program }).toBase58()
}

const lamportsOf = (account: ShownAccount | undefined): bigint => account?.lamports ?? 0n

function tokensOf(account: ShownAccount | undefined): bigint {
  if (account === undefined || !tokenPrograms.has(account.owner)) return 0n
  return Buffer.from(account.data).readBigUInt64LE(tokenAmountAt)
}
