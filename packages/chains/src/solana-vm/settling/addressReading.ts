import { associatedTokenAccount, solanaCodec, tokenProgram, UpstreamDisagreementError } from '@causeway/core'
import type { AddressedCurrency, AddressReading } from '../../family/settlingChain.ts'
import type { ChainClient } from '../../rpc/client.ts'
import type { EndpointView } from '../../rpc/endpointView.ts'
import type { QuorumClient } from '../../rpc/quorumClient.ts'
import { agreeOn } from '../../rpc/singleRoundQuestion.ts'
import { parseSignatures, type ShownAccount } from '../answers.ts'
import { type AccountGroups, createAccountGroups } from '../quoting/accountGroups.ts'
import { tokenAmountOf } from '../quoting/tokenMint.ts'
import { seeTransaction } from '../readTransaction.ts'
import { signaturesCall, transactionCall } from '../requests.ts'
import type { SolanaTransaction } from '../transaction.ts'

const readTimeoutMs = 5_000
/** Transactions of one request. */
const transactionsAtOnce = 20
/** Anybody can send a lamport: who sent more than so many times to an address hides who paid it before. */
const transactionsMax = 200

/**
 * What lies at addresses, as their balances say at the newest confirmed slot, and who brought it. Blocks, which are
 * megabytes, are not looked through. How deep a payment is decides nothing: the deposit that a sweep makes is on the same fork.
 * @param options.depository its program
 */
export function createAddressReading(options: {
  readonly client: ChainClient
  readonly quorum: QuorumClient<EndpointView>
  readonly depository: string
}): AddressReading {
  const { client, quorum, depository } = options
  const groups = createAccountGroups(client)
  return {
    needsFinal: false,
    held: (addresses, { currencies }) => heldAt(groups, addresses, currencies),
    async payers(address, { currencies, height }, signal) {
      const [held = new Map<string, bigint>()] = await heldAt(groups, [address], currencies)
      const paid = currencies.filter((currency) => held.has(currency.address))
      const found = await agreeOn<{ readonly payers: readonly string[] | null }, EndpointView>(
        quorum,
        async (view, own) => ({ payers: await payersOf(view, { address, paid, height, depository }, own) }),
        signal,
      )
      return found.payers ?? undefined
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
      const amounts = await groups.agreed(accounts, (found) => amountsOf(found, currencies), limits)
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
  found: readonly (ShownAccount | undefined)[],
  currencies: readonly AddressedCurrency[],
): readonly bigint[] {
  return currencies.map(({ address }, at) =>
    isCoin(address) ? (found[at]?.lamports ?? 0n) : tokenAmountOf(found[at]),
  )
}

type PaidAddress = {
  readonly address: string
  readonly paid: readonly AddressedCurrency[]
  readonly height: bigint
  readonly depository: string
}

/**
 * Whoever signed, or had less afterwards, in the transactions since an account was empty; sorted. `null` where there are
 * too many of them to say, or one of them is not read. @throws MalformedAnswerError
 */
async function payersOf(
  view: EndpointView,
  { address, paid, height, depository }: PaidAddress,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const payers = new Set<string>()
  for (const currency of paid) {
    const account = accountOf(address, currency)
    const [answer] = await view.ask([signaturesCall(account, undefined, 'confirmed')], signal)
    const listed = parseSignatures(answer).filter(({ succeeded, slot }) => succeeded && slot <= height)
    let isWhole = listed.length === 0
    for (
      let next = 0;
      !isWhole && next < Math.min(listed.length, transactionsMax);
      next += transactionsAtOnce
    ) {
      const ids = listed.slice(next, next + transactionsAtOnce).map(({ transactionId }) => transactionId)
      for (const transaction of await readAll(view, { ids, depository }, signal)) {
        if (transaction === 'missing') continue
        if (typeof transaction === 'string') return null
        const before = balanceBefore(transaction, account, currency.address)
        for (const payer of payersIn(transaction)) payers.add(payer)
        isWhole = before === 0n
        if (isWhole) break
      }
    }
    if (!isWhole) return null
  }
  payers.delete(address)
  return [...payers].sort()
}

async function readAll(
  view: EndpointView,
  { ids, depository }: { readonly ids: readonly string[]; readonly depository: string },
  signal: AbortSignal,
): Promise<readonly Awaited<ReturnType<typeof seeTransaction>>[]> {
  const answers = await view.ask(
    ids.map((id) => transactionCall(id, 'confirmed')),
    signal,
  )
  return Promise.all(
    ids.map((transactionId, at) => seeTransaction(answers[at], { transactionId, depository })),
  )
}

function balanceBefore(
  { balances, tokenBalances }: SolanaTransaction,
  account: string,
  currency: string,
): bigint | undefined {
  if (isCoin(currency)) return balances.find((one) => one.account === account)?.before
  return tokenBalances.find((one) => one.account === account && one.mint === currency)?.before ?? 0n
}

function payersIn({ signers, balances, tokenBalances }: SolanaTransaction): readonly string[] {
  const poorer = balances.filter(({ before = 0n, after = 0n }) => after < before)
  const spent = tokenBalances.filter(({ before, after }) => after < before)
  const owners = spent.flatMap(({ ownerBefore }) => (ownerBefore === undefined ? [] : [ownerBefore]))
  return [...signers, ...poorer.map(({ account }) => account), ...owners]
}
