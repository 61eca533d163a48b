// Two bodies and an answer: that of the tool at the clock's time, or, once somebody moved B, that of
// the same query in this page.

import { Box3, Vector3 } from 'three';

import type { Pack, Pair, PairReport } from '../pack/format';
import type { Playback } from '../run/playback';
import { placesOf } from '../scene/extent';
import type { Theatre } from '../scene/theatre';
import { PlainPose, poseAt, toContacts, toLoads } from './answer';
import { Hand } from './hand';
import type { Query } from './query.js';
import { openQuery } from './query.js';

const kA = 0;
const kB = 1;
const kTimeSlack = 1e-6;
const kIdle = 180; // ms without a move: then the distance is worth its time

export class Inspector {
  hand: Hand | null = null;
  query: Query | null = null;
  trouble = ''; // why the query does not answer
  moved = false; // B is where somebody put it
  answer: PairReport;
  milliseconds = 0; // of the last query
  onChange: () => void = () => {};
  private readonly pair: Pair;
  private idle = 0;
  private time = NaN; // that is shown

  constructor(
    private readonly pack: Pack,
    private readonly theatre: Theatre,
    private readonly playback: Playback,
  ) {
    this.pair = pack.pair!;
    this.answer = this.pair.report;
    void this.open();
  }

  get moves(): boolean {
    return this.playback.frameCount > 1;
  }
  get still(): string {
    return this.trouble || this.pair.still;
  }

  private async open(): Promise<void> {
    if (!this.pair.query) return;
    const { module, assets } = this.pair.query;
    try {
      const query = await openQuery(module);
      query.load(kA, assets[kA]);
      query.load(kB, assets[kB]);
      this.query = query;
      this.askFor(this.given(kB), false); // prepares: the first answer takes longest
      this.hand = new Hand(this.theatre.stage, this.middleOfB());
      this.hand.pose = this.given(kB);
      this.hand.onMove = () => this.move();
      this.hand.onDone = () => this.askExactly();
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    this.onChange();
  }

  private middleOfB(): Vector3 {
    const box = new Box3().setFromArray(placesOf(this.pack.shapes[kB]!));
    return box.isEmpty() ? new Vector3() : box.getCenter(new Vector3());
  }

  // Where the tool has a body at the clock's time.
  given(body: number): PlainPose {
    const { frame, time } = this.playback;
    const begin = this.playback.timeOf(frame);
    const length = this.playback.timeOf(frame + 1) - begin;
    return poseAt(this.pair.poses, body, frame, length > 0 ? (time - begin) / length : 0);
  }

  // The clock may have gone on: then B goes with it.
  onTime(): void {
    if (this.playback.time !== this.time) this.showGiven();
  }

  // The tool's answer, at the clock's time.
  showGiven(): void {
    this.moved = false;
    this.time = this.playback.time;
    window.clearTimeout(this.idle);
    this.theatre.poses.letGo(kB);
    this.theatre.setTime();
    if (this.hand) this.hand.pose = this.given(kB);
    this.answer = this.pair.report;
    this.show();
  }

  private move(): void {
    const { hand } = this;
    if (!hand) return;
    this.playback.stop();
    this.moved = true;
    this.theatre.poses.hold(kB, hand.matrix.elements);
    this.ask(false);
    window.clearTimeout(this.idle);
    this.idle = window.setTimeout(() => this.askExactly(), kIdle);
  }

  private askExactly(): void {
    window.clearTimeout(this.idle);
    if (this.moved) this.ask(true);
  }

  // B at any pose, as tests and keys have it.
  moveTo(pose: PlainPose): PairReport {
    this.hand!.pose = pose;
    this.move();
    this.askExactly();
    return this.answer;
  }

  private ask(exactly: boolean): void {
    const start = performance.now();
    try {
      this.answer = this.askFor(this.hand!.pose, exactly);
      this.trouble = '';
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    this.milliseconds = performance.now() - start;
    this.show();
  }

  private askFor(b: PlainPose, exactly: boolean): PairReport {
    const a = this.given(kA);
    const { request } = this.pair.query!;
    const flag = exactly ? 1 : 0;
    return this.query!.ask([...a.place, ...a.turn, ...b.place, ...b.turn, flag, ...request]);
  }

  // Contacts at their first time stay where they were found while bodies go on.
  get shown(): PairReport['contacts'] {
    const { contacts } = this.answer;
    const now = this.playback.time + kTimeSlack;
    return this.moves && !this.moved ? contacts.filter((c) => (c.time_of_contact ?? 0) <= now) : contacts;
  }

  private show(): void {
    const originOfB = this.moved ? this.hand!.pose : this.given(kB);
    this.theatre.contacts.show(
      toContacts(this.shown),
      toLoads(this.answer, this.given(kA).place, originOfB.place),
    );
    this.theatre.showWays(!this.moved);
    this.theatre.bodiesMoved();
    this.onChange();
  }
}
