import { UpstreamDisagreementError } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { ChainClient, EndpointView, QuorumClient } from '@causeway/rpc'
import { agreeOn } from '@causeway/rpc'
import type { AddressedCurrency, AddressReading } from '../../shared/settlingChain.ts'
import { type AccountGroups, createAccountGroups } from '../quoting/accountGroups.ts'
import { tokenAmountOf } from '../quoting/tokenMint.ts'
import type { ShownAccount } from '../reading/answers.ts'
import { associatedTokenAccount } from '../rules/programAddresses.ts'
import { tokenProgram } from '../rules/programs.ts'
import { type PayerWalk, type WalkProgress, walkOn, walkStart } from './payerWalk.ts'

const readTimeoutMs = 5_000
/** Accounts of which is remembered how far they were read; of others it is read again. */
const walksMax = 1_000

/**
 * Reads money that lies at addresses, as their balances say at the newest final slot, and who brought it. Blocks, which
 * are megabytes, are not looked through. The depth of a payment decides nothing: the deposit that a sweep makes is on
 * the same fork.
 * @param options.depository its program
 */
export function createAddressReading(options: {
  readonly client: ChainClient
  readonly quorum: QuorumClient<EndpointView>
  readonly depository: string
}): AddressReading {
  const { client, quorum, depository } = options
  const groups = createAccountGroups(client)
  const walks = new Map<string, PayerWalk>()

  /** Reads on from where the last look at the account ended. */
  async function walk(
    account: string,
    question: { readonly currency: string; readonly height: bigint },
    signal: AbortSignal,
  ): Promise<WalkProgress> {
    const from = walks.get(account) ?? walkStart
    const read = { account, ...question, depository }
    const walked = await agreeOn<WalkProgress, EndpointView>(
      quorum,
      (view, own) => walkOn(view, read, from, own),
      signal,
    )
    if (walked.outcome === 'unreadable') return walked
    walks.delete(account)
    if (walks.size >= walksMax) for (const oldest of [...walks.keys()].slice(0, 1)) walks.delete(oldest)
    const { outcome: _, ...kept } = walked
    walks.set(account, kept)
    return walked
  }

  return {
    needsFinal: false,
    held: (addresses, { currencies }) => heldAt(groups, addresses, currencies),
    async payers(address, { currencies, height }, signal) {
      const [held = new Map<string, bigint>()] = await heldAt(groups, [address], currencies)
      const payers = new Set<string>()
      let outcome: WalkProgress['outcome'] = 'known'
      for (const currency of currencies) {
        if (!held.has(currency.address)) continue
        const walked = await walk(
          accountOf(address, currency),
          { currency: currency.address, height },
          signal,
        )
        if (walked.outcome === 'unreadable') return undefined
        if (walked.outcome === 'more') outcome = 'more'
        for (const payer of walked.payers) payers.add(payer)
      }
      payers.delete(address)
      return outcome === 'more' ? 'reading' : [...payers].sort()
    },
    async transfer(address, { currency, height }, signal) {
      const question = { currency: currency.address, height }
      const { outcome, largest } = await walk(accountOf(address, currency), question, signal)
      return outcome === 'known' ? largest : undefined
    },
  }
}

/**
 * Each address is agreed on alone: one whose balance changes with each slot keeps nobody else from an answer. What is
 * not agreed on lies nowhere yet.
 */
async function heldAt(
  groups: AccountGroups,
  addresses: readonly string[],
  currencies: readonly AddressedCurrency[],
): Promise<readonly ReadonlyMap<string, bigint>[]> {
  const limits = { timeoutMs: readTimeoutMs }
  const read = async (address: string) => {
    const accounts = currencies.map((currency) => accountOf(address, currency))
    try {
      const amounts = await groups.agreed(
        accounts,
        (shownAccounts) => amountsOf(shownAccounts, currencies),
        limits,
      )
      return new Map(
        amounts.flatMap((amount, at): (readonly [string, bigint])[] => {
          const currency = currencies[at]
          return currency === undefined || amount === 0n ? [] : [[currency.address, amount]]
        }),
      )
    } catch (error) {
      if (error instanceof UpstreamDisagreementError) return new Map<string, bigint>()
      throw error
    }
  }
  return Promise.all(addresses.map(read))
}

const accountOf = (owner: string, { address, tokenProgram: program = tokenProgram }: AddressedCurrency) =>
  isCoin(address) ? owner : associatedTokenAccount(owner, { mint: address, tokenProgram: program })

const isCoin = (currency: string): boolean => currency === solanaCodec.nativeCurrency

function amountsOf(
  shownAccounts: readonly (ShownAccount | undefined)[],
  currencies: readonly AddressedCurrency[],
): readonly bigint[] {
  return currencies.map(({ address }, at) =>
    isCoin(address) ? (shownAccounts[at]?.lamports ?? 0n) : tokenAmountOf(shownAccounts[at]),
  )
}
