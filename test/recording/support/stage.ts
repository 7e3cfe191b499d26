import type { Hex } from '@causeway/core'
import type { LocalAccount } from '@causeway/localnet'
import { literalsOf } from './literals.ts'
import { createSession, type Session, type SessionWords, textAt } from './session.ts'
import {
  type OracleWorld,
  operatorKey,
  peerKey,
  type QuoteWorld,
  solverKey,
  startOracleWorld,
  startQuoteWorld,
} from './world.ts'

/** Whoever asks: its key as a header, and the wallet that it is going to link. */
export type Caller = {
  readonly headers: { readonly 'x-api-key': string }
  readonly keyId: string
  readonly wallet: LocalAccount
}

const namedKeys = {
  [solverKey]: 'key of the solver',
  [operatorKey]: 'key of the operator',
  [peerKey]: 'key of the peer',
}

/** Everything that a scenario of the oracle acts on. */
export type OracleStage = {
  readonly world: OracleWorld
  readonly oracle: Session
  readonly secondOracle: Session
  /** As users sign. */
  user(index: number): LocalAccount
}

/** Everything that a scenario of quote-api acts on. */
export type QuoteStage = {
  readonly world: QuoteWorld
  readonly quoteApi: Session
  readonly admin: Session
  /** 100 USD, all but nothing, and never a wallet. */
  readonly sponsor: Caller
  readonly poorSponsor: Caller
  readonly walletless: Caller
  user(index: number): LocalAccount
}

export async function openOracleStage(): Promise<OracleStage> {
  const world = await startOracleWorld()
  const { oracles, network } = world
  const words = { ...(await wordsOf(world)), isExact: true }
  const [first, second] = oracles.map(({ publicUrl }) => createSession(publicUrl, words))
  if (first === undefined || second === undefined) throw new Error('two oracles were started')
  return { world, oracle: first, secondOracle: second, user: userOf(network) }
}

export async function openQuoteStage(): Promise<QuoteStage> {
  const world = await startQuoteWorld()
  const { quoteApi, network } = world
  const words = await wordsOf(world)
  const admin = createSession(quoteApi.adminUrl, words)
  const user = userOf(network)
  const callerOf = async (name: string, wallet: LocalAccount): Promise<Caller> => {
    const created = await admin.prepare({ name, path: '/admin/keys', body: { label: name } })
    const [apiKey, keyId] = [textAt(created, 'apiKey'), textAt(created, 'id')]
    admin.name(apiKey, `key of the ${name}`)
    admin.name(keyId, `key id of the ${name}`)
    return { headers: { 'x-api-key': apiKey }, keyId, wallet }
  }
  return {
    world,
    admin,
    user,
    quoteApi: createSession(quoteApi.publicUrl, words),
    sponsor: await callerOf('sponsor', network.keys.sponsor),
    poorSponsor: await callerOf('poor sponsor', user(3)),
    walletless: await callerOf('stranger', user(4)),
  }
}

async function wordsOf(world: OracleWorld): Promise<SessionWords> {
  return { literals: await literalsOf(world), names: new Map(Object.entries(namedKeys)) }
}

function userOf({ keys }: OracleWorld['network']): (index: number) => LocalAccount {
  return (index) => {
    const account = keys.users[index]
    if (account === undefined) throw new Error(`the network has no user ${index}`)
    return account
  }
}

/** Hex of text that is known to be hex. @throws Error when it is none */
export function hexOf(text: string): Hex {
  if (!/^0x[0-9a-fA-F]*$/.test(text)) throw new Error(`${text} is no hex`)
  return `0x${text.slice(2)}`
}
