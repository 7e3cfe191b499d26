import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { HashTransfer } from '../standIns/lighter/index.ts'
import { type FamilyKey, familyDepositories, familyPlans } from './familyPlans.ts'
import type { FamilyDeposit, FamilyFacts, FamilyNetwork, FamilyPorts } from './familySettings.ts'
import { type FamilyStandIn, firstDepositor, type StandInOptions } from './standIn.ts'

/** The stand-ins of one network. */
export type Families = {
  /**
   * Opens a stand-in and makes its first deposit. A second call returns the same facts.
   * @throws Error when the port is taken, the journal cannot be read, or Base's node refuses a request
   */
  open(key: FamilyKey): Promise<FamilyFacts>
  /** The open stand-ins. */
  readonly facts: ReadonlyMap<FamilyKey, FamilyFacts>
  /** Makes another deposit, from a new account except on Tron. @throws Error for a family that is not open */
  deposit(key: FamilyKey, amount: bigint): Promise<FamilyDeposit>
  /** As `FamilyStandIn.placeWallet`. @throws Error for a family that is not open, has no kinds, or not this one */
  placeWallet(key: FamilyKey, name: string): Promise<string>
  /** Closes a stand-in's port, as if its chain's nodes were gone; the others go on. */
  silence(key: FamilyKey): Promise<void>
}

/** Each module is loaded when its family is opened, so that the first one does not wait for the libraries of all. */
const openers: Readonly<
  Record<FamilyKey, () => Promise<(options: StandInOptions) => Promise<FamilyStandIn>>>
> = {
  solana: async () => (await import('./solanaStandIn.ts')).openSolana,
  bitcoin: async () => (await import('./bitcoinStandIn.ts')).openBitcoin,
  tron: async () => (await import('./tronStandIn.ts')).openTron,
  hyperliquid: async () => (await import('./hyperliquidStandIn.ts')).openHyperliquid,
  lighter: async () => (await import('./lighterStandIn.ts')).openLighter,
}

/** Loads a family's module early, so that it opens at once. */
export async function loadFamily(key: FamilyKey): Promise<void> {
  await openers[key]()
}

export type FamiliesOptions = {
  /** Ids of transfers on Lighter; absent: none is taken there. */
  readonly hashTransfer?: (lighterChainId: bigint) => Promise<HashTransfer>
}

/** Makes the stand-ins of a network; none is open yet. */
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
  let lastDeposit: Promise<unknown> = Promise.resolve()
  const deposit = async (key: FamilyKey, amount: bigint, depositor: string): Promise<FamilyDeposit> => {
    const ownDeposit = lastDeposit.then(() => standInOf(key).deposit(amount, depositor))
    lastDeposit = ownDeposit.catch(() => undefined)
    return { transactionId: (await ownDeposit).transactionId, amount: amount.toString() }
  }
  const openOne = async (key: FamilyKey): Promise<FamilyFacts> => {
    const { node, tronDepository, tronUsdc, depositor, funding, stateFolder, tronCreatedFromMs } = network
    const opener = await openers[key]()
    const standIn = await opener({
      port: ports[key],
      depository: depositories[key],
      funding,
      node,
      tronDepository,
      depositor,
      tronUsdc,
      tronCreatedFromMs,
      hashTransfer,
      journalFile: stateFolder === undefined ? undefined : join(stateFolder, `${key}.jsonl`),
    })
    open.set(key, standIn)
    const firstDeposit = await deposit(key, familyPlans[key].firstAmount, firstDepositor)
    const familyFacts = { url: standIn.url, depository: depositories[key], firstDeposit }
    facts.set(key, familyFacts)
    return familyFacts
  }
  return {
    open(key) {
      const opened = opening.get(key) ?? openOne(key)
      opening.set(key, opened)
      // A failure is forgotten, so that a later call tries again.
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

/** Opens the stand-ins of all families at once, as tests need them. @throws Error as `Families.open` */
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
