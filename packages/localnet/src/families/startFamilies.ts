import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { HashTransfer } from '../standIns/lighter/index.ts'
import { type FamilyKey, familyDepositories, familyPlans } from './familyPlans.ts'
import type { FamilyDeposit, FamilyFacts, FamilyNetwork, FamilyPorts } from './familySettings.ts'
import { type FamilyStandIn, firstDepositor, type StandInOptions } from './standIn.ts'

/** The stand-ins of one network. */
export type Families = {
  /**
   * Opens a stand-in, with one final deposit. Asked again, it is the same.
   * @throws Error when the port is taken, what it keeps cannot be read, or the node of Base does not do what it is asked for
   */
  open(key: FamilyKey): Promise<FamilyFacts>
  /** Those that are open. */
  readonly facts: ReadonlyMap<FamilyKey, FamilyFacts>
  /** Another deposit: by somebody new, on Tron by the same account. @throws Error for a family that is not open */
  deposit(key: FamilyKey, amount: bigint): Promise<FamilyDeposit>
  /** A new account of a kind. @throws Error for a family that is not open or has no kinds, and for a name it does not have */
  placeWallet(key: FamilyKey, name: string): Promise<string>
  /** It answers nobody any more; the others go on. */
  silence(key: FamilyKey): Promise<void>
}

/** Each is loaded when it is opened, so that the first one does not wait for the libraries of all. */
const openers: Readonly<
  Record<FamilyKey, () => Promise<(options: StandInOptions) => Promise<FamilyStandIn>>>
> = {
  solana: async () => (await import('./solanaStandIn.ts')).openSolana,
  bitcoin: async () => (await import('./bitcoinStandIn.ts')).openBitcoin,
  tron: async () => (await import('./tronStandIn.ts')).openTron,
  hyperliquid: async () => (await import('./hyperliquidStandIn.ts')).openHyperliquid,
  lighter: async () => (await import('./lighterStandIn.ts')).openLighter,
}

/** Loads what a family needs, so that it opens at once. */
export async function loadFamily(key: FamilyKey): Promise<void> {
  await openers[key]()
}

export type FamiliesOptions = {
  /** Ids of transfers on Lighter; absent: none is taken there. */
  readonly hashTransfer?: (lighterChainId: bigint) => Promise<HashTransfer>
}

/** None of them is open yet. */
export function createFamilies(
  ports: FamilyPorts,
  network: FamilyNetwork,
  { hashTransfer }: FamiliesOptions = {},
): Families {
  const depositories = familyDepositories(network.tronDepository)
  const opening = new Map<FamilyKey, Promise<FamilyFacts>>()
  const open = new Map<FamilyKey, FamilyStandIn>()
  const facts = new Map<FamilyKey, FamilyFacts>()
  const standInOf = (key: FamilyKey): FamilyStandIn => {
    const standIn = open.get(key)
    if (standIn === undefined) throw new Error(`${key} is not open yet`)
    return standIn
  }
  // One after the other: deposits on Tron are numbered transactions of one account.
  let last: Promise<unknown> = Promise.resolve()
  const deposit = async (key: FamilyKey, amount: bigint, depositor: string): Promise<FamilyDeposit> => {
    const own = last.then(() => standInOf(key).deposit(amount, depositor))
    last = own.catch(() => undefined)
    return { transactionId: (await own).transactionId, amount: amount.toString() }
  }
  const openOne = async (key: FamilyKey): Promise<FamilyFacts> => {
    const { node, tronDepository, tronUsdc, depositor, funding, stateFolder, tronCreatedFromMs } = network
    const opener = await openers[key]()
    const standIn = await opener({
      ...{ port: ports[key], depository: depositories[key], funding, node, tronDepository, depositor },
      ...{ tronUsdc, tronCreatedFromMs, hashTransfer },
      journalFile: stateFolder === undefined ? undefined : join(stateFolder, `${key}.jsonl`),
    })
    open.set(key, standIn)
    const firstDeposit = await deposit(key, familyPlans[key].firstAmount, firstDepositor)
    const found = { url: standIn.url, depository: depositories[key], firstDeposit }
    facts.set(key, found)
    return found
  }
  return {
    open(key) {
      const opened = opening.get(key) ?? openOne(key)
      opening.set(key, opened)
      // It may be asked again, once what kept it from opening is mended.
      opened.catch(() => opening.delete(key))
      return opened
    },
    facts,
    deposit: (key, amount) => deposit(key, amount, randomUUID()),
    async placeWallet(key, name) {
      const { placeWallet } = standInOf(key)
      if (placeWallet === undefined) throw new Error(`accounts of ${key} are all alike`)
      return placeWallet(name)
    },
    silence: (key) => standInOf(key).stop(),
  }
}

export type OpenFamilies = Omit<Families, 'facts' | 'open'> & {
  readonly facts: Readonly<Record<FamilyKey, FamilyFacts>>
}

/** All of them, open. @throws Error as `Families.open` */
export async function startFamilies(
  ports: FamilyPorts,
  network: FamilyNetwork,
  options: FamiliesOptions = {},
): Promise<OpenFamilies> {
  const families = createFamilies(ports, network, options)
  const [solana, bitcoin, tron, hyperliquid, lighter] = await Promise.all([
    families.open('solana'),
    families.open('bitcoin'),
    families.open('tron'),
    families.open('hyperliquid'),
    families.open('lighter'),
  ])
  return { ...families, facts: { solana, bitcoin, tron, hyperliquid, lighter } }
}
