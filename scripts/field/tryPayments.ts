import type { Hex } from '@causeway/core'
import { measuredGasMax, type OpenChain, type Payment, pay } from './chains.ts'
import type { FieldOptions } from './options.ts'
import { askQuote, attestPayment, compareWith, waitForFill } from './payments.ts'
import { type ChainCosts, freeStep, gasWei, outputMicroUsd, paidStep, weiOf } from './plan.ts'
import type { FieldServices } from './services.ts'
import { Stopped, type Take } from './steps.ts'

type Payer = Pick<FieldOptions, 'publicOracle' | 'funderKey'> & { readonly signal: AbortSignal }

type PaidChain = OpenChain & { readonly costs: ChainCosts }

type Payments = {
  readonly opened: readonly PaidChain[]
  readonly take: Take
  readonly services: FieldServices
  readonly funder: Hex
}

type Pair = Payments & { readonly from: PaidChain; readonly to: PaidChain }

/** Each chain pays each other one. One that fails keeps no other from being tried. */
export async function tryPayments(payer: Payer, payments: Payments): Promise<void> {
  const { opened } = payments
  for (const from of opened) {
    for (const to of opened.filter((one) => one !== from)) {
      try {
        await tryPayment(payer, { ...payments, from, to })
      } catch (error) {
        if (!(error instanceof Stopped) || error.cause === undefined) throw error
      }
    }
  }
}

async function tryPayment(payer: Payer, pair: Pair): Promise<void> {
  const { take, services, funder, from, to } = pair
  const { signal, publicOracle } = payer
  const place = { chain: from.key, to: to.key }
  const quoteApi = { url: services.quoteApiUrl, signal }
  const quoted = await take(freeStep('quote', place), async () => {
    const amountWei = weiOf(outputMicroUsd, to.costs)
    const quote = await askQuote(quoteApi, { user: funder, from, to, amountWei })
    const payments = quote.payments.map(async (payment) => ({
      ...payment,
      gasMax: await measuredGasMax(from, { ...payment, from: funder }),
    }))
    return [
      { ...quote, payments: await Promise.all(payments) },
      `request ${quote.requestId}, ${quote.received} coins to receive`,
    ]
  })
  await deposit(payer, pair, quoted.payments)
  const paid = await take(freeStep('fill', place), async () => {
    const found = await waitForFill(quoteApi, quoted.requestId)
    return [found, `deposit ${found.deposit}, fill ${found.fill}`]
  })
  const attested = await take(freeStep('attest', place), async () => {
    const asked = { ...services.oracle, signal }
    const found = await attestPayment(asked, { ...quoted, ...paid, chainId: from.key })
    const signatures = found.map(({ answer }) => answer.execution?.signatures.length)
    return [found, `${signatures.join(' and ')} oracles signed deposit and fill`]
  })
  if (publicOracle === undefined) return
  await take(freeStep('compare', place), async () => {
    for (const one of attested) {
      const difference = await compareWith({ ...publicOracle, signal }, one)
      if (difference !== undefined) throw new Error(`${one.question.path}: ${difference}`)
    }
    return [undefined, 'the public oracle says the same of deposit and fill']
  })
}

async function deposit(
  { funderKey }: Payer,
  { take, from, to }: Pair,
  payments: readonly (Payment & { readonly gasMax: bigint })[],
): Promise<void> {
  const { costs } = from
  const { gasPriceMaxWei } = costs
  const maxWei = payments.reduce((sum, { valueWei, gasMax }) => sum + valueWei + gasWei(gasMax, costs), 0n)
  await take(paidStep('deposit', costs, { maxWei, to: to.key }), async () => {
    const hashes: Hex[] = []
    for (const payment of payments)
      hashes.push(await pay(from, { ...payment, gasPriceMaxWei, from: funderKey }))
    return [undefined, hashes.join(', ')]
  })
}
