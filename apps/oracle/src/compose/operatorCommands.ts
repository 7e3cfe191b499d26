import { describeFinalChange } from '@causeway/chains'
import { ConfigurationError } from '@causeway/core'
import {
  createHeldStore,
  createOperatorAudit,
  describeAudit,
  type HeldStore,
  type OperatorAudit,
} from '@causeway/signer'
import { createHaltStore, type HaltStore } from '../halt/haltStore.ts'

const usage = 'Usage: halted list | halted clear <chain> | held list | held release <id> | audit list'

/** Stores of an oracle that operators see and change. */
export type OperatorState = {
  /** Names it in messages. */
  readonly place: string
  readonly halts: HaltStore
  readonly held: HeldStore
  readonly audit: OperatorAudit
}

/** The state of one process. */
export function folderState(stateDirectory: string): OperatorState {
  return {
    place: 'STATE_DIR',
    halts: createHaltStore(stateDirectory),
    held: createHeldStore(stateDirectory),
    audit: createOperatorAudit(stateDirectory),
  }
}

/**
 * Questions of an operator beside a running oracle.
 * @param state `undefined` where neither `STATE_DIR` nor `ORACLE_DATABASE_URL` is set
 * @returns what to print
 * @throws ConfigurationError for an unknown command, a chain that is not halted or a malformed id
 */
export async function runOperatorCommand(
  words: readonly string[],
  state: OperatorState | undefined,
): Promise<string> {
  const [topic, action, subject, ...rest] = words
  if (rest.length > 0) throw new ConfigurationError(usage)
  if (topic === 'halted') return runHaltedCommand({ action, chain: subject }, state)
  if (topic === 'held') return runHeldCommand({ action, id: subject }, state)
  if (topic !== 'audit' || action !== 'list' || subject !== undefined) throw new ConfigurationError(usage)
  return describeAudit(await needed(state, 'no command changes anything').audit.list())
}

/** @throws ConfigurationError */
function needed(state: OperatorState | undefined, without: string): OperatorState {
  if (state !== undefined) return state
  throw new ConfigurationError(`Neither STATE_DIR nor ORACLE_DATABASE_URL is set: without them ${without}.`)
}

/** A running oracle notices a cleared halt at its next check and reads the chain anew before it signs. */
async function runHaltedCommand(
  { action, chain }: { readonly action: string | undefined; readonly chain: string | undefined },
  state: OperatorState | undefined,
): Promise<string> {
  const { place, halts, audit } = needed(state, 'a halt ends with the process')
  if (action === 'list' && chain === undefined) {
    const halted = await halts.load()
    if (halted.size === 0) return 'No chain is halted.'
    return [...halted]
      .map(([chainId, contradiction]) => {
        if (contradiction === undefined) return `${chainId}: the marker cannot be read`
        return `${chainId}: ${describeFinalChange(contradiction)}`
      })
      .join('\n')
  }
  if (action !== 'clear' || chain === undefined) throw new ConfigurationError(usage)
  const isCleared = await audit.record({ action: 'halted.clear', subject: chain }, () => halts.clear(chain))
  if (isCleared) return `${chain} is not halted any more.`
  throw new ConfigurationError(`${chain} is not halted in ${place}.`)
}

/**
 * A released execution is signed when it is asked for again, once and exactly as it was reviewed, whatever the cap says; it
 * uses up nothing of the cap.
 */
async function runHeldCommand(
  { action, id }: { readonly action: string | undefined; readonly id: string | undefined },
  state: OperatorState | undefined,
): Promise<string> {
  const { held, audit } = needed(state, 'nothing that is held can be released')
  if (action === 'list' && id === undefined) {
    const listed = await held.list()
    if (listed.size === 0) return 'Nothing is held.'
    return [...listed]
      .map(([heldId, record]) => {
        if (record === undefined) return `${heldId}: its file cannot be read`
        const { kind, key, lets, reason, since } = record
        return `${heldId}: ${kind} ${key} lets out ${lets.join(' and ')} (${reason}, since ${since})`
      })
      .join('\n')
  }
  if (action !== 'release' || id === undefined) throw new ConfigurationError(usage)
  let wasListed = false
  await audit.record({ action: 'held.release', subject: id }, async () => {
    wasListed = await held.release(id)
    return true
  })
  const note = wasListed ? '' : ' It is not listed here: check the id.'
  return `${id} is signed when it is asked for again.${note}`
}
