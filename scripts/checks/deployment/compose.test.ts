// Goal: the compose file fences its containers as the manifests fence pods. Who gains by breaking a rule: a container
// that was taken, and the hurried edit.
import { describe, expect, test } from 'vitest'
import { files, problemsWith } from './planted.ts'

describe('the compose file', () => {
  test.each<[string, string | RegExp, string, string]>([
    ['a stop that is cut off', 'stop_grace_period: 40s', 'stop_grace_period: 30s', 'a stop takes 35s'],
    ['capabilities', /cap_drop:\n\s+- ALL/, 'cap_drop: []', 'cap_drop ALL'],
    ['a root that is written', 'read_only: true', 'read_only: false', 'read_only'],
    ['memory without end', '  mem_limit: 512m\n', '', 'oracle: mem_limit'],
    ['processes without end', '  pids_limit: 128\n', '', 'pids_limit'],
    ['logs without end', 'max-size: 10m', 'mode: blocking', 'logging with max-size'],
    ['a way to more rights', '- no-new-privileges:true', '- label=disable', 'no-new-privileges'],
    ['the engine’s socket', './haproxy.cfg:/usr', '/var/run/docker.sock:/usr', 'not the engine'],
    ['no health check', /(balancer:[\s\S]*?)healthcheck:\n(\s{6}.*\n)+/, '$1', 'balancer: healthcheck'],
    ['the operations port', '127.0.0.1:3100:3000', '127.0.0.1:3100:3001', 'not for callers'],
    ['a port for the whole network', '127.0.0.1:3000:3000', '3000:3000', 'published beyond this machine'],
    [
      'a published database',
      /(solver-database:\n {4}<<: \*database\n)/,
      '$1    ports:\n      - "127.0.0.1:5432:5432"\n',
      'a database is published',
    ],
    [
      'an oracle that meets the database',
      '- attestations\n      - oracle-out',
      '- quote-database\n      - oracle-out',
      'leads oracle to a database',
    ],
    [
      'a database with a way out',
      'quote-database:\n    internal: true',
      'quote-database:',
      'leads a database out',
    ],
    ['services that meet on the way out', '- solver-out', '- oracle-out', 'joins it to'],
    ['the network of everybody', /networks:\n\s+- allocator-out\n/, '', 'allocator: networks of its own'],
    [
      'a variable that nobody reads',
      'OPS_HOST: 0.0.0.0',
      'OPS_HOSTS: 0.0.0.0',
      'quote-api reads no OPS_HOSTS',
    ],
    [
      'a secret in the file',
      'STATE_DIR: /var/lib/causeway',
      'ECDSA_PRIVATE_KEY: "1"',
      'ECDSA_PRIVATE_KEY is a secret',
    ],
    ['an image that is not built', 'target: oracle', 'target: oracles', 'target oracles is none'],
  ])('O-190: refuses %s', (_what, from, to, problem) => {
    expect(problemsWith('docker/compose.yaml', from, to)).toContain(problem)
  })
})

test('the balancer sees a drain before the drain ends', () => {
  const text = (path: string) => files.find((file) => file.path === path)?.text ?? ''
  const [, interval, fall] = /check inter (\d+)s fall (\d+)/.exec(text('docker/haproxy.cfg')) ?? []
  const [, check] = /timeout check (\d+)s/.exec(text('docker/haproxy.cfg')) ?? []
  const [, drainMs = ''] =
    /DRAIN_MS \?\? \(isLocal \? 0 : ([\d_]+)\)/.exec(text('apps/quote-api/src/config/config.ts')) ?? []
  const seenSeconds = Number(interval) * Number(fall) + Number(check)
  expect(seenSeconds).toBeLessThan(Number(drainMs.replace('_', '')) / 1000)
})
