import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { writeFileAtomically } from '@causeway/localnet'
import { readJsonFile } from '@causeway/localnet'
import { parseRecord, recordPath, type SignedRecord } from './signedRecord.ts'

/** Everything the fill wallet ever signed here, each in a file of its own. One process writes. */
export interface Outbox {
  all(): readonly SignedRecord[]
  /** The newest attempt. */
  latest(id: string): SignedRecord | undefined
  /** Resolves when the record would survive a kill and a power loss. */
  save(record: SignedRecord): Promise<void>
}

/** @throws ConfigurationError naming a file that cannot be read: nothing may be signed beside it */
export async function openOutbox(directory: string): Promise<Outbox> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const records = new Map<string, SignedRecord[]>()
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json'))
  for (const name of names) keep(records, await readRecord(join(directory, name)))
  return {
    all: () => [...records.values()].flat(),
    latest: (id) => records.get(id)?.at(-1),
    async save(record) {
      await writeFileAtomically(recordPath(directory, record), JSON.stringify(record), { mode: 0o600 })
      keep(records, record)
    },
  }
}

async function readRecord(path: string): Promise<SignedRecord> {
  const reading = await readJsonFile(path)
  try {
    return parseRecord(reading.kind === 'found' ? reading.json : undefined)
  } catch (error) {
    throw new ConfigurationError(`${path} is not a record of the solver`, { cause: error })
  }
}

function keep(records: Map<string, SignedRecord[]>, record: SignedRecord): void {
  const others = (records.get(record.id) ?? []).filter(({ attempt }) => attempt !== record.attempt)
  records.set(
    record.id,
    [...others, record].sort((one, other) => one.attempt - other.attempt),
  )
}
