import { ConfigurationError } from '@causeway/core'
import { createHeldStore, createOperatorAudit, describeAudit } from '@causeway/signer'
import { createStateFiles } from '../state/stateFiles.ts'

const usage =
  'Usage: stop <reason> | resume | status | held list | held release <payload id> | audit list. Without a command the allocator runs.'

/**
 * The operator's commands over `STATE_DIR`; a running allocator notices within one round.
 * @returns what to print
 * @throws ConfigurationError for an unknown command or payload id
 */
export async function runCommand(
  words: readonly string[],
  stateDirectory: string | undefined,
  now: () => number,
): Promise<string> {
  const [topic, ...rest] = words
  if (stateDirectory === undefined) {
    throw new ConfigurationError('STATE_DIR is not set: name the folder of the allocator that is meant.')
  }
  const state = createStateFiles(stateDirectory)
  const audit = createOperatorAudit(stateDirectory, { nowMs: now })
  switch (topic) {
    case 'stop': {
      const reason = rest.join(' ').trim()
      if (reason === '') throw new ConfigurationError(usage)
      await audit.record({ action: 'stop', subject: '-', reason }, async () => {
        await state.stop({ reason, since: new Date(now()).toISOString(), isRewritten: false })
        return true
      })
      return 'Nothing is signed any more. Resume with: resume'
    }
    case 'resume':
      return (await audit.record({ action: 'resume', subject: '-' }, () => state.resume()))
        ? 'Payloads are signed again.'
        : 'Nothing was stopped.'
    case 'status': {
      const [stop, position] = await Promise.all([state.readStop(), state.readPosition()])
      const switched = stop === undefined ? 'It signs.' : `Stopped since ${stop.since}: ${stop.reason}`
      const read = position === undefined ? 'nothing' : `everything up to block ${position.number}`
      return `${switched}\nDone with: ${read}`
    }
    case 'held':
      return runHeld(rest, stateDirectory, audit)
    case 'audit':
      if (rest.join(' ') !== 'list') throw new ConfigurationError(usage)
      return describeAudit(await audit.list())
    default:
      throw new ConfigurationError(usage)
  }
}

async function runHeld(
  words: readonly string[],
  stateDirectory: string,
  audit: ReturnType<typeof createOperatorAudit>,
): Promise<string> {
  const [action, id, ...more] = words
  const store = createHeldStore(stateDirectory)
  if (action === 'list' && id === undefined) {
    const held = await store.list()
    if (held.size === 0) return 'Nothing is held.'
    return [...held]
      .map(([payloadId, record]) =>
        record === undefined
          ? `${payloadId}: its file cannot be read`
          : `${payloadId}: lets out ${record.lets.join(' and ')} (${record.reason}, since ${record.since})`,
      )
      .join('\n')
  }
  if (action !== 'release' || id === undefined || more.length > 0) throw new ConfigurationError(usage)
  let wasListed = false
  await audit.record({ action: 'held.release', subject: id }, async () => {
    wasListed = await store.release(id)
    return true
  })
  return `${id} is signed in the next round.${wasListed ? '' : ' It is not listed here: check the id.'}`
}
