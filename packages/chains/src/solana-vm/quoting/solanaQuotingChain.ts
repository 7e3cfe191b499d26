import {
  type AccountLack,
  associatedTokenAccount,
  deriveProgramAddresses,
  type InputLock,
  isSolanaKey,
  solanaCodec,
  systemProgram,
  tokenProgram,
} from '@causeway/core'
import type { ChainFinding, FindingKind } from '../../family/chainFinding.ts'
import type { NetworkReaderOptions } from '../../family/networkReader.ts'
import {
  connectByJsonRpc,
  type QuotingChain,
  type QuotingChainFamily,
  type UserFacts,
} from '../../family/quotingChain.ts'
import { createRecent, recentMs } from '../../family/recent.ts'
import { createLruCache } from '../../rpc/lruCache.ts'
import { createQuorumOver } from '../../rpc/quorumClient.ts'
import { exactLamportsMax, type ShownAccount } from '../answers.ts'
import { solanaHeadTracking } from '../requests.ts'
import { solanaEndpointFindings, verifyLocalCluster } from '../verifyEndpoints.ts'
import { createAccountGroups, type Limits } from './accountGroups.ts'
import { createClusterReader } from './clusterReader.ts'
import { addressProgramFindings } from './programCode.ts'
import { lockOfHolder, readTokenMint, refusalOfHolder, type TokenMint, tokenAmountOf } from './tokenMint.ts'

/** Mints that are remembered: the program and the extensions of one never change. */
const mintsMax = 1_000
const lacksNothing: AccountLack = {}
/**
 * Accounts as clusters show them at the newest final slot. What is only shown, a user's balance, is asked of
 * one endpoint; what is charged or refused for, of all of them.
 */
export const solanaQuotingChain: QuotingChainFamily = {
  // Endpoints lie further apart in slots than in blocks of seconds.
  connect: (chain) => connectByJsonRpc(chain, { headTracking: solanaHeadTracking, lagBlocksMax: 50 }),
  open({ client, budgetMs, neededWithinMs, now, onFailure }): QuotingChain {
    const mints = createLruCache<TokenMint>(mintsMax)
    const groups = createAccountGroups(client)

    const recent = {
      balances: createRecent<bigint>(now),
      coins: createRecent<bigint>(now),
      locks: createRecent<InputLock | 'none'>(now),
      lacks: createRecent<AccountLack>(now, { forMs: recentMs.steady }),
      codes: createRecent<boolean>(now, { forMs: recentMs.steady }),
    }

    /** Undefined where nothing is known in time; never rejects. */
    const within = async <Value>(
      timeoutMs: number,
      work: (limits: Limits) => Promise<Value>,
    ): Promise<Value | undefined> => {
      const limits = { timeoutMs }
      try {
        return await work(limits)
      } catch (error) {
        onFailure(error)
        return undefined
      }
    }
    /** One that is remembered is not waited for: what is asked of its accounts leaves with the moment's other questions. */
    const readMint = async (currency: string, limits: Limits): Promise<TokenMint | undefined> => {
      const mint = await groups.agreed(
        [currency],
        ([account]) => account && readTokenMint(account.owner, account.data),
        limits,
      )
      if (mint !== undefined) mints.set(currency, mint)
      return mint
    }

    const balanceOf = (user: string, currency: string) =>
      recent.balances(`${user} ${currency}`, () =>
        within(budgetMs, async (limits) => {
          if (currency === solanaCodec.nativeCurrency) return lamportsOf(await groups.shown(user, limits))
          const mint = mints.get(currency) ?? (await readMint(currency, limits))
          if (mint === undefined) return undefined
          const holder = tokenAccountOf(user, currency, mint)
          return tokenAmountOf(await groups.shown(holder, limits))
        }),
      )
    const coinOf = (payer: string) =>
      recent.coins(payer, () =>
        within(budgetMs, (limits) => groups.agreed([payer], ([found]) => lamportsOf(found), limits)),
      )

    const lockOf = (user: string, currency: string) =>
      recent.locks(`${user} ${currency}`, () =>
        within(budgetMs, async (limits) => {
          if (currency === solanaCodec.nativeCurrency) return 'none'
          const mint = mints.get(currency) ?? (await readMint(currency, limits))
          if (mint === undefined) return undefined
          const holder = tokenAccountOf(user, currency, mint)
          return groups.agreed([holder], ([found]) => lockOfHolder(found, user) ?? 'none', limits)
        }),
      )

    return {
      async userFacts({ user, currency, feePayer, touched = [] }): Promise<UserFacts> {
        const [balance, coin, lock = 'none'] = await Promise.all([
          balanceOf(user, currency),
          feePayer === undefined ? undefined : coinOf(feePayer),
          lockOf(user, currency),
        ])
        return {
          ...{ ...(balance !== undefined && { balance }), held: touched.map(() => undefined) },
          ...(coin !== undefined && { feeFunds: { coin } }),
          ...(lock !== 'none' && { inputLock: lock }),
        }
      },
      lackOf: (account, currency) =>
        recent.lacks(`${account} ${currency}`, () =>
          within(neededWithinMs, async (limits) => {
            if (currency === solanaCodec.nativeCurrency)
              return groups.agreed([account], ([found]) => lackOfCoin(found), limits)
            const mint = mints.get(currency) ?? (await readMint(currency, limits))
            if (mint === undefined) return undefined
            const holder = tokenAccountOf(account, currency, mint)
            const lackIn = ([found]: readonly (ShownAccount | undefined)[]): AccountLack => {
              if (found?.owner !== mint.program) return { stateBytes: mint.accountBytes }
              const refusal = refusalOfHolder(found, account)
              return refusal === undefined ? lacksNothing : { refusal }
            }
            return groups.agreed([holder], lackIn, limits)
          }),
        ),
      hasCode: (account) =>
        recent.codes(account, () =>
          within(neededWithinMs, async (limits) => {
            // Nobody has the key of such an address: a program signs for it, or nobody does.
            if (!isSolanaKey(account)) return true
            const isCode = ([found]: readonly (ShownAccount | undefined)[]) =>
              found !== undefined && (found.isExecutable || found.owner !== systemProgram)
            return groups.agreed([account], isCode, limits)
          }),
        ),
      unitsOfCalls: undefined,
    }
  },
  network: {
    reader: createClusterReader,
    async contradictions(options) {
      const { client, network, depository, isLocal } = options
      const quorum = createQuorumOver(client, { now: () => Date.now() })
      const signal = AbortSignal.timeout(checkTimeoutMs)
      const limits = { timeoutMs: checkTimeoutMs }
      const [endpoints, foreign, mints, program] = await Promise.all([
        solanaEndpointFindings({ quorum, network, depository }, signal),
        isLocal ? verifyLocalCluster(quorum, signal) : [],
        mintContradictions(options),
        addressProgramFindings(options.depositAddressProgram, {
          ...{ groups: createAccountGroups(client), limits, chainId: client.chainId },
        }),
      ])
      const setting = `chains: ${client.chainId}.httpRpcUrl`
      const strangers = foreign.map((problem): ChainFinding => {
        return { kind: 'network', setting, value: 'a local network', said: 'another node', problem }
      })
      return [...endpoints, ...strangers, ...mints, ...program]
    },
  },
}

/**
 * A listed currency that is no mint, has other decimals or another program, or does not simply arrive when it is
 * sent; and one that the depository has no account for, which its first depositor would pay unasked.
 */
async function mintContradictions({
  client,
  depository,
  currencies,
}: NetworkReaderOptions): Promise<readonly ChainFinding[]> {
  const { vaultTokenAccount } = deriveProgramAddresses(depository)
  const limits = { timeoutMs: checkTimeoutMs }
  const groups = createAccountGroups(client)
  const checked = currencies
    .filter(({ address }) => address !== solanaCodec.nativeCurrency)
    .map(async ({ address: mint, decimals, tokenProgram: program = tokenProgram }) => {
      const vaultAccount = vaultTokenAccount({ mint, tokenProgram: program })
      const shownMint = await groups.agreed(
        [mint],
        ([account]) => account && readTokenMint(account.owner, account.data),
        limits,
      )
      const setting = `quote: chains.${client.chainId}.currencies.${mint}`
      const found = (kind: FindingKind, value: string, said: string, problem: string): ChainFinding => {
        return { kind, setting, value, said, problem }
      }
      if (shownMint === undefined) return [found('contract', mint, 'no mint', `${mint} is no mint`)]
      const hasAccount = await groups.agreed([vaultAccount], ([held]) => held?.owner === program, limits)
      const { decimals: shownDecimals, program: shownProgram, refusal } = shownMint
      const findings: ChainFinding[] = []
      if (shownDecimals !== decimals)
        findings.push(
          found('decimals', `${decimals}`, `${shownDecimals}`, `${mint} has ${shownDecimals} decimals`),
        )
      if (shownProgram !== program)
        findings.push(
          found(
            'tokenProgram',
            program,
            shownProgram,
            `${mint} belongs to the token program ${shownProgram}`,
          ),
        )
      if (refusal !== undefined)
        findings.push(found('refusal', mint, `it ${refusal}`, `${mint} ${refusal}: it cannot be quoted`))
      if (!hasAccount)
        findings.push(
          found(
            ...(['vaultAccount', vaultAccount, 'no account'] as const),
            `the depository has no account of ${mint}: make ${vaultAccount} first`,
          ),
        )
      return findings
    })
  return (await Promise.all(checked)).flat()
}

/** A start waits so long for a chain. */
const checkTimeoutMs = 5_000

function tokenAccountOf(owner: string, mint: string, { program }: TokenMint): string {
  return associatedTokenAccount(owner, { mint, tokenProgram: program })
}

/** Pure; what is compared says no more than what is charged or refused for, since balances change with slots. */
function lackOfCoin(account: ShownAccount | undefined): AccountLack {
  const lamports = lamportsOf(account)
  // What keeps nothing but dust is taken away by the first transaction that writes it: as good as absent.
  if (lamports === 0n) return { isAbsent: true }
  return lamports > exactLamportsMax ? { isUncountable: true } : lacksNothing
}

const lamportsOf = (account: ShownAccount | undefined): bigint => account?.lamports ?? 0n
