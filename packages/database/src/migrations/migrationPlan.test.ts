import { describe, expect, test } from 'vitest'
import { migrationChecksum, migrationFile } from './migrationFiles.ts'
import { type AppliedMigration, planMigrations } from './migrationPlan.ts'

const files = ['0001_a', '0002_b', '0004_d'].map((name) => migrationFile(`${name}.sql`, `-- ${name}`))

/** A row as this release writes it. */
const ran = (name: string, changed: Partial<AppliedMigration> = {}): AppliedMigration => ({
  name,
  checksum: migrationChecksum(`-- ${name}`),
  stopsOlder: false,
  ...changed,
})
/** A row as releases without checksums wrote it. */
const ranBefore = (name: string): AppliedMigration => ({ name, checksum: null, stopsOlder: null })

function plan(applied: readonly AppliedMigration[], renamed?: Readonly<Record<string, string>>) {
  const { toRun, adopted, ...rest } = planMigrations({
    name: 'books',
    files,
    applied,
    ...(renamed !== undefined && { renamed }),
  })
  const names = (of: readonly { readonly name: string }[]) => of.map(({ name }) => name)
  return { ...rest, toRun: names(toRun), adopted: names(adopted) }
}

const nothing = { toRun: [], adopted: [], renamed: [], isUncertain: false, newer: [] }

describe('what a database still has to run', () => {
  test('is everything when it is empty, the rest of a release before, and nothing afterwards', () => {
    expect(plan([])).toEqual({ ...nothing, toRun: ['0001_a', '0002_b', '0004_d'] })
    expect(plan([ran('0001_a'), ran('0002_b')])).toEqual({ ...nothing, toRun: ['0004_d'] })
    expect(plan(files.map(({ name }) => ran(name)))).toEqual(nothing)
  })

  test('a history without checksums gets them, and its tables are looked at', () => {
    expect(plan([ranBefore('0001_a'), ranBefore('0002_b')])).toEqual({
      ...nothing,
      toRun: ['0004_d'],
      adopted: ['0001_a', '0002_b'],
      isUncertain: true,
    })
  })

  test('one that lacks a file between others runs it, and its tables are looked at', () => {
    expect(plan([ran('0001_a'), ran('0004_d')])).toEqual({ ...nothing, toRun: ['0002_b'], isUncertain: true })
  })

  test('one that ran a file under its former name does not run it again', () => {
    const applied = [ranBefore('0001_a'), ranBefore('0002_b'), ranBefore('0003_d')]
    expect(plan(applied, { '0003_d': '0004_d' })).toMatchObject({
      toRun: [],
      renamed: [{ from: '0003_d', to: '0004_d' }],
      newer: [],
    })
  })
})

describe('a database is refused, with the file and what to do,', () => {
  const all = files.map(({ name }) => ran(name))

  test('that ran another text', () => {
    const other = ran('0002_b', { checksum: migrationChecksum('-- 0002_b ') })
    expect(() => plan([ran('0001_a'), other])).toThrow(
      'The database cannot be used: it ran another text of the migration books/0002_b.sql than this release has',
    )
  })

  test('whose later release says that older ones must not run on it, or says nothing', () => {
    const stops = 'a later release ran the migration books/0005_e.sql, over which older ones must not run'
    expect(() => plan([...all, ran('0005_e', { stopsOlder: true })])).toThrow(stops)
    expect(() => plan([...all, ran('0005_e', { stopsOlder: null })])).toThrow(stops)
    expect(plan([...all, ran('0005_e')])).toEqual({ ...nothing, newer: ['0005_e'] })
    expect(() => plan([...all, ran('0005_e'), ran('0006_f', { stopsOlder: true })])).toThrow('0006_f')
  })

  test.each([
    ['that ran a file before the last that nobody has', [...all, ran('0003_x')]],
    ['that ran a later file and lacks one of ours', [ran('0001_a'), ran('0002_b'), ran('0005_e')]],
  ])('%s', (_what, applied) => {
    expect(() => plan(applied)).toThrow(/it ran the migration books\/000[35]_[xe].sql, which neither/)
  })
})
