// d3-force 3.0.0 and what it needs are classic scripts, which set this name.
declare const d3: any;
