import { type Arguments, type CommandForm, doctor, type Program } from '@causeway/cli'
import { createHeldStore, createOperatorAudit, describeAudit } from '@causeway/signer'
import { createStateFiles } from '../state/stateFiles.ts'

/** Files in `STATE_DIR` that operators' commands read and change. A running allocator notices changes within one round. */
export type OperatorFiles = ReturnType<typeof operatorFiles>

/** @param now milliseconds since 1970 */
export function operatorFiles(stateDirectory: string, now: () => number) {
  return {
    now,
    state: createStateFiles(stateDirectory),
    held: createHeldStore(stateDirectory),
    audit: createOperatorAudit(stateDirectory, { nowMs: now }),
  }
}

type AllocatorCommand = CommandForm & {
  /** @returns the text to print @throws ConfigurationError for a malformed payload id */
  run(files: OperatorFiles, args: Arguments): Promise<string>
}

const commands: readonly AllocatorCommand[] = [
  {
    words: 'stop',
    about: 'Sign nothing any more, from the next round on',
    operands: ['reason...'],
    async run({ state, audit, now }, args) {
      const reason = args.operand('reason')
      await audit.record({ action: 'stop', subject: '-', reason }, async () => {
        // `isRewritten` would make `resume` read everything from the first block on again.
        await state.stop({ reason, since: new Date(now()).toISOString(), isRewritten: false })
        return true
      })
      return 'Nothing is signed any more. Resume with: resume'
    },
  },
  {
    words: 'resume',
    about: 'End the stop',
    async run({ state, audit }) {
      const isEnded = await audit.record({ action: 'resume', subject: '-' }, () => state.resume())
      return isEnded ? 'Payloads are signed again.' : 'Nothing was stopped.'
    },
  },
  {
    words: 'status',
    about: 'Show whether it is stopped, and what it is done with',
    async run({ state }) {
      const [stop, position] = await Promise.all([state.readStop(), state.readPosition()])
      const stopText = stop === undefined ? 'It signs.' : `Stopped since ${stop.since}: ${stop.reason}`
      const progress = position === undefined ? 'nothing' : `everything up to block ${position.number}`
      return `${stopText}\nDone with: ${progress}`
    },
  },
  {
    words: 'held list',
    about: 'List payloads that pass a cap',
    async run({ held }) {
      const listed = await held.list()
      if (listed.size === 0) return 'Nothing is held.'
      return [...listed]
        .map(([payloadId, record]) =>
          record === undefined
            ? `${payloadId}: its file cannot be read`
            : `${payloadId}: lets out ${record.lets.join(' and ')} (${record.reason}, since ${record.since})`,
        )
        .join('\n')
    },
  },
  {
    words: 'held release',
    about: 'Have a payload signed in the next round, whatever the cap says',
    operands: ['payload id'],
    async run({ held, audit }, args) {
      const id = args.operand('payload id')
      let wasListed = false
      await audit.record({ action: 'held.release', subject: id }, async () => {
        wasListed = await held.release(id)
        // An id that is not listed is released too, for the case that its payload comes later.
        return true
      })
      return `${id} is signed in the next round.${wasListed ? '' : ' It is not listed here: check the id.'}`
    },
  },
  {
    words: 'audit list',
    about: 'List who changed what, and when',
    run: async ({ audit }) => describeAudit(await audit.list()),
  },
]

/** Command line of the allocator. Its commands act on `STATE_DIR`, also while an allocator runs on it. */
export const allocatorProgram: Program<AllocatorCommand | typeof doctor> = {
  name: 'npm run causeway -- allocator',
  about: 'The allocator: without a word it runs.',
  commands: [doctor, ...commands],
  groups: { held: 'Payloads that pass a cap', audit: 'Who changed what' },
}
