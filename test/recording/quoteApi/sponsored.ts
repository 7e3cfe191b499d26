// A sponsor from the link of its wallet on, and every way in which it pays for quotes or does not.
import { privateKeyToAccount } from 'viem/accounts'
import { textAt } from '../support/session.ts'
import type { Caller, QuoteStage } from '../support/stage.ts'
import { askPriced, bodyOf, poorUser, type Wish } from './bodies.ts'
import { appFeeWallet } from './priced.ts'

const challengePath = '/sponsorship/wallets/challenge'
const linkPath = '/sponsorship/wallets/link'

export async function recordLinking(stage: QuoteStage): Promise<void> {
  const { quoteApi, sponsor, poorSponsor, world } = stage
  const { headers } = sponsor
  const wallet = sponsor.wallet.address
  const asks = (name: string, body: object, by: object = { headers }) =>
    quoteApi.ask({ name, path: challengePath, body, ...by })
  const links = (name: string, body: object, by: object = { headers }) =>
    quoteApi.ask({ name, path: linkPath, body, ...by })
  await asks('challenge without key', { wallet }, {})
  await asks('challenge for no wallet', { wallet: '0x12' })
  await asks('challenge without wallet', {})
  const wish = { more: { subsidizeFees: true } }
  const body = bodyOf(world.network, wish)
  await askPriced(quoteApi, { name: 'quote of a key without wallet', path: '/quote', body, headers })
  const wasted = await signedChallenge(stage, sponsor, 'challenge')
  await links('link without key', { wallet, ...wasted }, {})
  await links('link with a nonce that nobody asked for', { wallet, ...wasted, nonce: 'unknown' })
  await links('link without signature', { wallet, nonce: wasted.nonce })
  await links('link by the signature of nobody', { wallet, ...wasted, signature: `0x${'11'.repeat(65)}` })
  await links('link after the nonce was used up', { wallet, ...wasted })
  await links('link', { wallet, ...(await signedChallenge(stage, sponsor, 'another challenge')) })
  const again = await signedChallenge(stage, sponsor, 'a challenge for the linked wallet')
  await links('link of another wallet than signed', { wallet: appFeeWallet(7), ...again })
  const poor = await signedChallenge(stage, poorSponsor, 'challenge of another key')
  await links(
    'link of another key',
    { wallet: poorSponsor.wallet.address, ...poor },
    { headers: poorSponsor.headers },
  )
}

async function signedChallenge({ quoteApi }: QuoteStage, { wallet, headers }: Caller, name: string) {
  const answer = await quoteApi.ask({ name, path: challengePath, body: { wallet: wallet.address }, headers })
  const [message, nonce] = [textAt(answer, 'message'), textAt(answer, 'nonce')]
  const signature = await privateKeyToAccount(wallet.privateKey).signMessage({ message })
  quoteApi.name(nonce, `nonce of ${name}`)
  quoteApi.name(signature, `signature of ${name}`)
  return { nonce, signature }
}

const subsidizeFees = true
const app = { appFees: [{ recipient: appFeeWallet(1), fee: '20' }] }

const paid: readonly (readonly [string, Wish])[] = [
  ['all fees', { more: { subsidizeFees } }],
  ['all fees of an exact output', { tradeType: 'EXACT_OUTPUT', more: { subsidizeFees } }],
  ['all fees of an expected output', { tradeType: 'EXPECTED_OUTPUT', more: { subsidizeFees } }],
  ['all fees of a swap', { receive: 'native', more: { subsidizeFees } }],
  ['all fees of a swap on both chains', { pay: 'USDX', receive: 'TIDE', more: { subsidizeFees } }],
  ['all fees beside app fees', { more: { subsidizeFees, ...app } }],
  ['a gas top-up', { more: { subsidizeFees, topupGas: true } }],
  ['all fees of a permit', { more: { subsidizeFees, usePermit: true } }],
  ['all fees of a permit in one chain', { to: 'base', more: { subsidizeFees, usePermit: true } }],
  ['all fees of a deposit address', { pay: 'native', more: { subsidizeFees, useDepositAddress: true } }],
  ['up to a cap above', { more: { subsidizeFees, maxSubsidizationAmount: '5000000' } }],
  ['up to a cap below', { more: { subsidizeFees, maxSubsidizationAmount: '10000' } }],
  ['up to a cap of one', { receive: 'native', more: { subsidizeFees, maxSubsidizationAmount: '1' } }],
  ['up to a cap of zero', { more: { subsidizeFees, maxSubsidizationAmount: '0' } }],
  [
    'a capped deposit address',
    { pay: 'native', more: { subsidizeFees, useDepositAddress: true, maxSubsidizationAmount: '1' } },
  ],
  ['execution alone', { receive: 'native', more: { subsidizeFees, sponsoredFeeComponents: ['execution'] } }],
  [
    'swap and relay',
    { receive: 'native', more: { subsidizeFees, sponsoredFeeComponents: ['swap', 'relay'] } },
  ],
  ['app alone', { more: { subsidizeFees, ...app, sponsoredFeeComponents: ['app'] } }],
  ['rent alone', { more: { subsidizeFees, sponsoredFeeComponents: ['rent'] } }],
  ['rent beside all', { more: { subsidizeFees, subsidizeRent: true } }],
  ['rent and no fees', { more: { subsidizeRent: true } }],
  ['nothing, asked for so', { more: { subsidizeFees: false } }],
  ['nothing, with a cap', { more: { maxSubsidizationAmount: '1000000' } }],
  ['nothing of a send', { to: 'base', more: { subsidizeFees } }],
  ['nothing of a swap in one chain', { to: 'base', receive: 'USDX', more: { subsidizeFees } }],
  [
    'a swap in one chain by the solver',
    { to: 'base', receive: 'native', more: { subsidizeFees, forceSolverExecution: true } },
  ],
]

const refused: readonly (readonly [string, object])[] = [
  ['a cap that is no number', { subsidizeFees, maxSubsidizationAmount: 'much' }],
  ['no components', { subsidizeFees, sponsoredFeeComponents: [] }],
  ['components that do not exist', { subsidizeFees, sponsoredFeeComponents: ['tips'] }],
  ['a fee payer of another family', { subsidizeFees, depositFeePayer: appFeeWallet(8) }],
  ['a fee payer that is no address', { subsidizeFees, depositFeePayer: 'x' }],
  ['a flag as text', { subsidizeFees: 'yes' }],
]

export async function recordSponsored({
  quoteApi,
  world,
  sponsor,
  poorSponsor,
  walletless,
}: QuoteStage): Promise<void> {
  const { network } = world
  const path = '/quote'
  const balances = `/app-fees/${sponsor.wallet.address}/balances`
  const isCredited = ({ body }: { readonly body: unknown }) =>
    JSON.stringify(body).includes('"amount":"100000000"')
  await quoteApi.ask({ name: 'balance', path: balances, until: isCredited })
  const { headers } = sponsor
  for (const [index, [name, wish]] of paid.entries()) {
    // Each request has its own user, because holds for one user are limited.
    const user = poorUser(index)
    const body = bodyOf(network, { ...wish, more: { user, recipient: user, ...wish.more } })
    await askPriced(quoteApi, { name: `sponsored: ${name}`, path, body, headers })
  }
  for (const [name, more] of refused) {
    await askPriced(quoteApi, { name: `sponsored: ${name}`, path, body: bodyOf(network, { more }), headers })
  }
  const body = bodyOf(network, { more: { subsidizeFees } })
  await askPriced(quoteApi, { name: 'sponsored without key', path, body })
  await askPriced(quoteApi, {
    name: 'sponsored by a key without wallet',
    path,
    body,
    headers: walletless.headers,
  })
  await askPriced(quoteApi, { name: 'sponsored v2', path: '/quote/v2', body, headers })
  const ofPoor = { headers: poorSponsor.headers }
  await quoteApi.prepare({
    name: 'credit',
    path: `/app-fees/${poorSponsor.wallet.address}/balances`,
    until: ({ body: told }) => JSON.stringify(told).includes('"amount":"5000"'),
  })
  await askPriced(quoteApi, { name: 'sponsored by who has too little', path, body, ...ofPoor })
  const capped = bodyOf(network, { more: { subsidizeFees, maxSubsidizationAmount: '4000' } })
  await askPriced(quoteApi, {
    name: 'sponsored by who has enough for the cap',
    path,
    body: capped,
    ...ofPoor,
  })
  await quoteApi.ask({ name: 'balance with holds', path: balances })
}
