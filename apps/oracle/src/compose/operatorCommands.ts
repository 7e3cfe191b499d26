import { type Arguments, type CommandForm, doctor, type Program } from '@causeway/cli'
import { ConfigurationError } from '@causeway/core'
import { describeFinalChange } from '@causeway/families'
import {
  createHeldStore,
  createOperatorAudit,
  describeAudit,
  type HeldStore,
  type OperatorAudit,
} from '@causeway/signer'
import { createHaltStore, type HaltStore } from '../halt/haltStore.ts'

/** State of an oracle that operators read and change by commands. */
export type OperatorState = {
  /** Name of the store in messages: the folder or the database. */
  readonly place: string
  readonly halts: HaltStore
  readonly held: HeldStore
  readonly audit: OperatorAudit
}

/** The state of an oracle with one process, in `STATE_DIR`. */
export function folderState(stateDirectory: string): OperatorState {
  return {
    place: 'STATE_DIR',
    halts: createHaltStore(stateDirectory),
    held: createHeldStore(stateDirectory),
    audit: createOperatorAudit(stateDirectory),
  }
}

type OracleCommand = CommandForm & {
  /**
   * @param state `undefined` where neither `STATE_DIR` nor `ORACLE_DATABASE_URL` is set
   * @returns the text to print
   * @throws ConfigurationError for a chain that is not halted or a malformed id
   */
  run(state: OperatorState | undefined, args: Arguments): Promise<string>
}

/** @param consequence of keeping no state, for the error @throws ConfigurationError where the oracle keeps none */
function requireState(state: OperatorState | undefined, consequence: string): OperatorState {
  if (state !== undefined) return state
  throw new ConfigurationError(
    `Neither STATE_DIR nor ORACLE_DATABASE_URL is set: without them ${consequence}.`,
  )
}

const endsWithProcess = 'a halt ends with the process'
const releasesNothing = 'nothing that is held can be released'

const commands: readonly OracleCommand[] = [
  {
    words: 'halted list',
    about: 'List chains that contradicted themselves: nothing of them is signed',
    async run(state) {
      const halted = await requireState(state, endsWithProcess).halts.load()
      if (halted.size === 0) return 'No chain is halted.'
      return [...halted]
        .map(([chainId, contradiction]) => {
          if (contradiction === undefined) return `${chainId}: the marker cannot be read`
          return `${chainId}: ${describeFinalChange(contradiction)}`
        })
        .join('\n')
    },
  },
  {
    words: 'halted clear',
    about: 'End a halt: a running oracle notices at its next check and reads the chain anew before it signs',
    operands: ['chain'],
    async run(state, args) {
      const { place, halts, audit } = requireState(state, endsWithProcess)
      const chain = args.operand('chain')
      const isCleared = await audit.record({ action: 'halted.clear', subject: chain }, () =>
        halts.clear(chain),
      )
      if (isCleared) return `${chain} is not halted any more.`
      throw new ConfigurationError(`${chain} is not halted in ${place}.`)
    },
  },
  {
    words: 'held list',
    about: 'List executions that pass a cap',
    async run(state) {
      const listed = await requireState(state, releasesNothing).held.list()
      if (listed.size === 0) return 'Nothing is held.'
      return [...listed]
        .map(([heldId, record]) => {
          if (record === undefined) return `${heldId}: its file cannot be read`
          const { kind, key, lets, reason, since } = record
          return `${heldId}: ${kind} ${key} lets out ${lets.join(' and ')} (${reason}, since ${since})`
        })
        .join('\n')
    },
  },
  {
    words: 'held release',
    about:
      'Have an execution signed when it is asked for again: once, exactly as it was reviewed, and using up nothing of the cap',
    operands: ['id'],
    async run(state, args) {
      const { held, audit } = requireState(state, releasesNothing)
      const id = args.operand('id')
      let wasListed = false
      await audit.record({ action: 'held.release', subject: id }, async () => {
        wasListed = await held.release(id)
        // An id that is not listed is released as well, so the change is always made.
        return true
      })
      const note = wasListed ? '' : ' It is not listed here: check the id.'
      return `${id} is signed when it is asked for again.${note}`
    },
  },
  {
    words: 'audit list',
    about: 'List who changed what, and when',
    run: async (state) =>
      describeAudit(await requireState(state, 'no command changes anything').audit.list()),
  },
]

/** Command line of the oracle. Its commands act on its state, also while an oracle runs on it. */
export const oracleProgram: Program<OracleCommand | typeof doctor> = {
  name: 'npm run oracle --',
  about: 'The oracle: without a word it runs.',
  commands: [doctor, ...commands],
  groups: {
    halted: 'Chains that contradicted themselves',
    held: 'Executions that pass a cap',
    audit: 'Who changed what',
  },
}
